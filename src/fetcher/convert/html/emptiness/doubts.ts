import type { PageSigns } from './page-signs.ts'

/** Words of content below which a page with this many programs may not be all there is. */
const FEW_WORDS = 30
const MANY_SCRIPTS = 5
/** Words of prose up to which a text that must be paid for may be its beginning. */
const TEASER_WORDS_MAX = 400

/**
 * What may be missing from a page that counts as a success, one sentence each.
 * @param words of the content that was found.
 */
export function doubtsOf({ scripts, proseWords, isFree }: PageSigns, words: number): string[] {
  const doubts: string[] = []
  if (words < FEW_WORDS && scripts >= MANY_SCRIPTS) {
    doubts.push('The page has little text and many scripts, which may add more in a browser.')
  }
  if (proseWords <= TEASER_WORDS_MAX && !isFree) {
    doubts.push('The page says that its text is not free to read; this may be its beginning only.')
  }
  return doubts
}
