import type { PageRange } from '../../jobs/page-ranges.ts'
import type { Page } from './document.ts'

/** The line that stands above each page of a paged document. */
export const PAGE_MARK = /^<!-- page (\d+) -->$/

/** The pages as one text, each under a mark with its number. What looks like a mark in their text is no longer one. */
export const joinPages = (pages: readonly Page[]): string =>
  pages.map(({ number, text }) => `<!-- page ${number} -->\n\n${withoutMarks(text.trim())}`.trimEnd()).join('\n\n')

const withoutMarks = (text: string): string => text.replaceAll(/<!--(?= page \d+ -->)/g, '<! --')

/** The numbers that the ranges pick out of `total` pages, rising and without duplicates. No ranges pick all. */
export function pagesOf(ranges: readonly PageRange[] | undefined, total: number): number[] {
  const picked = new Set<number>()
  for (const range of ranges ?? [{ from: 1, to: undefined }]) {
    const [from, to] = 'last' in range ? [Math.max(1, total - range.last + 1), total] : [range.from, range.to ?? total]
    for (let page = from; page <= Math.min(to, total); page += 1) picked.add(page)
  }
  return [...picked].toSorted((a, b) => a - b)
}

/** Whether the ranges ask for pages that `total` pages do not have. Open ranges ask for what there is. */
export const missesPages = (ranges: readonly PageRange[], total: number): boolean =>
  ranges.some((range) => ('last' in range ? range.last > total : range.from > total || (range.to ?? 0) > total))
