import { readFileSync } from 'node:fs'

/**
 * The flag of Node that has all that goes out written to a file.
 * @param zone what names resolve to; all others do not exist.
 */
export function watchTo(file: string, zone: Readonly<Record<string, readonly string[]>> = {}): string {
  const watch = new URL('outgoing-watch.mjs', import.meta.url)
  watch.search = new URLSearchParams({ file, zone: JSON.stringify(zone) }).toString()
  return `--import=${watch.href}`
}

/** What has been written there, without repetition, sorted. */
export const linesOf = (file: string): string[] =>
  [...new Set(readFileSync(file, 'utf8').trimEnd().split('\n'))].toSorted()
