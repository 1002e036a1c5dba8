import { readFileSync } from 'node:fs'

export interface AddressCase {
  readonly id: string
  readonly input: string
  readonly expect: 'allow' | 'deny'
  readonly code: string
  readonly why: string
}

export interface UrlCase {
  readonly id: string
  /** One of `input` and `build`; a few inputs are no strings. */
  readonly input?: unknown
  readonly build?: {
    readonly prefix: string
    readonly repeat: string
    readonly times: number
    readonly suffix?: string
  }
  readonly expect: 'allow' | 'deny'
  readonly code: string
  readonly why: string
  readonly normalized?: string
  readonly base?: string
  readonly resolves_to?: readonly string[]
}

export const addressCases = () => read('guard-addresses.json') as AddressCase[]
export const urlCases = () => read('guard-urls.json') as UrlCase[]

/** The text of a case. The schema of a submission refuses what is no string; here its text stands for it. */
export function textOf({ input, build }: UrlCase): string {
  return build ? build.prefix + build.repeat.repeat(build.times) + (build.suffix ?? '') : String(input)
}

function read(name: string): unknown {
  const file = readFileSync(new URL(`../cases/${name}`, import.meta.url), 'utf8')
  return (JSON.parse(file) as { cases: unknown }).cases
}
