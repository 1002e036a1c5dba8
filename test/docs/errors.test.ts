import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import { ERROR_CODES } from '../../src/errors.ts'
import { isRetried, TARGET_ERRORS, TargetError, type TargetErrorCode } from '../../src/jobs/target-error.ts'
import { hasTest } from '../helpers/has-test.ts'
import { BEHAVIOURS } from '../lab/behaviours.ts'
import { behaviourTables } from '../lab/document.ts'

const DOCUMENT = readFileSync('docs/errors.md', 'utf8')
const CODES = Object.keys(TARGET_ERRORS) as (keyof typeof TARGET_ERRORS)[]

/** Codes that no server can provoke, and the tests that do: file and title. */
const PROVOKED_ELSEWHERE = {
  // Submissions are refused for it, and redirects are bad_redirect, so that no target comes as far.
  invalid_url: ['test/fetcher/network/post.test.ts', 'passes the guard: %s'],
  internal: [
    'test/rules/rule-9-no-crash.test.ts',
    'makes a fetch that rejects with %s the outcome of its target, and goes on',
  ],
  no_room: [
    'test/store/storage-faults.test.ts',
    'keeps what it has acknowledged, fails what finds no room, ends the job, and recovers by a purge',
  ],
} as const satisfies Partial<Record<TargetErrorCode, readonly [file: string, title: string]>>

describe('docs/errors.md', () => {
  it('has a row for every code of a target, and no other, with its hint and whether it is retried', () => {
    const rows = DOCUMENT.matchAll(/^\| `([a-z_]+\d*)` \| .+ \| (.+) \| (yes|no) \|$/gm)
    const documented = Object.fromEntries([...rows].map(([, code, hint, retried]) => [code, { hint, retried }]))
    const wanted = CODES.map((code) => {
      return [code, { hint: TARGET_ERRORS[code].hint, retried: isRetried(code) ? 'yes' : 'no' }]
    })
    expect(documented).toEqual(Object.fromEntries(wanted))
  })

  it('has the hints of statuses', () => {
    const ranges = [...DOCUMENT.matchAll(/^- (\d{3})(?:(?:, | to )(\d{3}))?(?:, else)?: (.+)$/gm)]
    expect(ranges).toHaveLength(7)
    for (const [, first, last, hint] of ranges) {
      for (const status of [first, last ?? first]) expect(new TargetError(`http_${Number(status)}`, '').hint).toBe(hint)
    }
  })

  it('has every behaviour of the lab, as its test expects it', () => {
    expect(DOCUMENT.slice(DOCUMENT.indexOf('## '))).toBe(behaviourTables())
  })
})

it('the lab provokes every code of a target, but for those that no server can', () => {
  const provoked = new Set<string>(BEHAVIOURS.map(({ expected }) => expected.outcome))
  expect(CODES.filter((code) => !provoked.has(code)).toSorted()).toEqual(Object.keys(PROVOKED_ELSEWHERE).toSorted())
  for (const [code, [file, title]] of Object.entries(PROVOKED_ELSEWHERE)) {
    expect(hasTest(file, title), title).toBe(true)
    expect(readFileSync(file, 'utf8')).toContain(`'${code}'`)
  }
})

it('every behaviour of the lab has a name of its own', () => {
  const names = BEHAVIOURS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9.-]*$/)
})

it('the OpenAPI document names every code', () => {
  const { components } = parse(readFileSync('openapi.yaml', 'utf8')) as {
    components: { schemas: Record<'TargetView' | 'ProblemCode', Schema> }
  }
  const { TargetView, ProblemCode } = components.schemas
  const named = TargetView.properties?.error?.description?.matchAll(/`([a-z_]+\d*)`/g) ?? []
  expect([...named].map(([, code]) => code)).toEqual(['http_404', ...CODES])
  expect(ProblemCode.enum).toEqual(ERROR_CODES)
})

interface Schema {
  readonly description?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}
