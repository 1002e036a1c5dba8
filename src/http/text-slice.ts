/** A part of a text. Lengths and places are UTF-16 code units. */
export interface TextSlice {
  readonly text: string
  /** Length of the whole. */
  readonly total: number
  /** Where the next part starts; undefined if this is the last. */
  readonly next: number | undefined
}

/**
 * At most `limit` units from `offset` on, or one character if that takes two. Parts that are read one after the other,
 * each from the `next` of the one before, make up the whole; none begins or ends inside a character.
 */
export function sliceText(whole: string, offset: number, limit: number): TextSlice {
  const total = whole.length
  const start = alignDown(whole, Math.min(offset, total))
  const wanted = alignDown(whole, Math.min(start + limit, total))
  const end = wanted > start ? wanted : Math.min(total, start + 2)
  return { text: whole.slice(start, end), total, next: end < total ? end : undefined }
}

/** The position, or the one before it if a surrogate pair stands across it. */
function alignDown(text: string, at: number): number {
  const isInside = /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at))
  return isInside ? at - 1 : at
}
