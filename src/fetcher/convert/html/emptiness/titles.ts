/** Between the name of a page and that of its site. */
const SEPARATORS = /\s+[|–—·»:-]\s+|\s*[|·»]\s*|:\s+/

/** Titles and their parts. */
export const titleParts = (titles: readonly string[]): string[] =>
  titles.flatMap((title) => [title, ...title.split(SEPARATORS)]).map((part) => part.trim())
