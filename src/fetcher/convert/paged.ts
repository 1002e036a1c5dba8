import type { PageRange } from '../../jobs/page-ranges.ts'
import type { Page } from './document.ts'

/** The pages as one text, each under a mark with its number. */
export const joinPages = (pages: readonly Page[]): string =>
  pages.map(({ number, text }) => `<!-- page ${number} -->\n\n${text.trim()}`.trimEnd()).join('\n\n')

/** The numbers that the ranges pick out of `total` pages, rising and without duplicates. No ranges pick all. */
export function pagesOf(ranges: readonly PageRange[] | undefined, total: number): number[] {
  const picked = new Set<number>()
  for (const range of ranges ?? [{ from: 1, to: undefined }]) {
    const [from, to] = 'last' in range ? [Math.max(1, total - range.last + 1), total] : [range.from, range.to ?? total]
    for (let page = from; page <= Math.min(to, total); page += 1) picked.add(page)
  }
  return [...picked].toSorted((a, b) => a - b)
}
