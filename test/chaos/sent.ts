import type { Options } from './history.ts'
import { parse } from './parse.ts'

/** A body as it was meant. */
export interface Sent {
  readonly targets: readonly { readonly url: string; readonly custom_id?: string; readonly options?: object }[]
  readonly options?: object
  readonly reuse?: boolean
}

/** What a body of this media type means; undefined if it is no list of targets. */
export function readSent(text: string, type: string | undefined): Sent | undefined {
  if (type === 'text/uri-list') {
    const urls = text.split(/\r?\n/).filter((row) => row !== '' && !row.startsWith('#'))
    return { targets: urls.map((url) => ({ url })) }
  }
  const body = parse(text) as Partial<Sent> | undefined
  return Array.isArray(body?.targets) ? (body as Sent) : undefined
}

const DEFAULTS: Readonly<Record<string, unknown>> = { mode: 'auto', context: false, recover: false }

/** The same text for all bodies that ask for the same targets with the same options in the same order. */
export function keyOf(sent: Sent): string {
  const options = optionsOf(sent).map((chosen) =>
    Object.entries(chosen)
      .filter(([name, value]) => DEFAULTS[name] !== value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
  return JSON.stringify(
    sent.targets.map(({ url, custom_id }, idx) => [new URL(url).href, custom_id ?? null, options[idx]]),
  )
}

/** The options of each target: its own, and for the rest those of the whole submission. */
export const optionsOf = ({ targets, options: common }: Sent): Options[] =>
  targets.map(({ options }) => ({ ...common, ...options }))
