/** What a feed says, whatever its format. Texts are plain and on one line unless they are named HTML. */
export interface Feed {
  readonly title: string | undefined
  /** The page that the feed belongs to, absolute. */
  readonly url: string | undefined
  readonly description: string | undefined
  readonly byline: string | undefined
  readonly language: string | undefined
  /** When it was last changed, as it says. */
  readonly modified: string | undefined
  readonly entries: readonly FeedEntry[]
  /** False if it has more entries than are read. */
  readonly complete: boolean
}

export interface FeedEntry {
  readonly title: string | undefined
  /** Absolute. */
  readonly url: string | undefined
  /** As the feed says. */
  readonly published: string | undefined
  readonly byline: string | undefined
  /** HTML of a few sentences. */
  readonly summary: string | undefined
  /** HTML of the whole text, if the feed has it. */
  readonly content: string | undefined
  /** What relative links in the HTML are relative to. */
  readonly base: string
}

/** Entries that are read: each takes about a millisecond to write. */
export const ENTRIES_MAX = 5_000
/** Characters of the HTML of one summary or content; the rest is left out. */
export const HTML_LENGTH_MAX = 500_000
/** Characters of any other value. */
export const VALUE_LENGTH_MAX = 2_000
