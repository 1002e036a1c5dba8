/**
 * The archive could not be asked, or gave no usable answer: nothing is known of its copies.
 * `message` is a clause that follows "and".
 */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  /** What the caller can do next, in one sentence. */
  readonly hint: string

  constructor(message: string, { hint = TRY_LATER, cause }: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause })
    this.hint = hint
  }
}

const TRY_LATER = 'Try again later; the archive may have a copy.'

/** @param why a clause of what the archive does, or of what became of the connection to it. */
export const notAsked = (why: string, options?: { hint?: string; cause?: unknown }) =>
  new ArchiveError(`the archive cannot be asked now: ${why}`, options)
