import type { PageSigns } from './page-signs.ts'

/** Between the name of a page and that of its site. */
const SEPARATORS = /\s+[|–—·»:-]\s+|\s*[|·»]\s*|:\s+/

/** The titles of a page and their parts. */
export const titleParts = ({ titles }: PageSigns): string[] =>
  titles.flatMap((title) => [title, ...title.split(SEPARATORS)]).map((part) => part.trim())
