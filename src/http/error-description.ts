import { type Static, Type } from '@sinclair/typebox'

import { ERROR_CODES, type ErrorCode } from '../errors.ts'
import { TARGET_ERRORS, TargetError } from '../jobs/target-error.ts'
import { StringEnum } from '../schema.ts'
import { PROBLEM_TEXTS, TARGET_MEANINGS } from './problem-texts.ts'
import { RESPONSES } from './problem.ts'

/** What an error code means and what to do about it. */
export const ErrorDescription = Type.Object(
  {
    code: Type.String(),
    kind: StringEnum(['request', 'target'], {
      description: '`request`: the `code` of a problem. `target`: the `error` of a target that failed.',
    }),
    title: Type.String({ description: 'The code in words.' }),
    status: Type.Optional(Type.Integer({ description: 'Of a problem: the status of the response.' })),
    meaning: Type.String(),
    remedy: Type.String({ description: 'What to do.' }),
  },
  { $id: 'ErrorDescription', description: 'What an error code means and what to do about it.' },
)
export type ErrorDescription = Static<typeof ErrorDescription>

/** Every code there is, but for `http_404` and its like, of which there is one for each status. */
export const DESCRIBED_CODES: readonly string[] = [...ERROR_CODES, ...Object.keys(TARGET_ERRORS)]

/** Undefined if there is no such code. */
export function describeCode(code: string): ErrorDescription | undefined {
  if (isProblemCode(code)) return { code, kind: 'request', ...RESPONSES[code], ...PROBLEM_TEXTS[code] }
  if (isTargetCode(code)) {
    const remedy = TARGET_ERRORS[code].hint
    return { code, kind: 'target', title: toTitle(code), meaning: TARGET_MEANINGS[code], remedy }
  }
  const status = /^http_([1-9]\d{2})$/.exec(code)?.[1]
  return status === undefined ? undefined : describeStatus(Number(status))
}

function describeStatus(status: number): ErrorDescription {
  const { code, hint } = new TargetError(`http_${status}`, '')
  const meaning = `The final answer of the site had status ${status}, outside 200 to 299.`
  return { code, kind: 'target', title: `Status ${status}`, meaning, remedy: hint }
}

const isProblemCode = (code: string): code is ErrorCode => Object.hasOwn(RESPONSES, code)
const isTargetCode = (code: string): code is keyof typeof TARGET_ERRORS => Object.hasOwn(TARGET_ERRORS, code)

/** `dns_not_found` becomes `DNS not found`. */
function toTitle(code: string): string {
  const words = code
    .split('_')
    .map((word) => ACRONYMS[word] ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const ACRONYMS: Readonly<Record<string, string>> = {
  dns: 'DNS',
  tls: 'TLS',
  url: 'URL',
  json: 'JSON',
  javascript: 'JavaScript',
}
