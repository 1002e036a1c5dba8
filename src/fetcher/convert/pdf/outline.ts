import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

import type { OutlineEntry } from '../../../jobs/schema.ts'

/** Entries that are kept. */
const OUTLINE_ENTRIES_MAX = 500
const TITLE_LENGTH_MAX = 300
/** Deeper entries are left out. */
const LEVELS_MAX = 20

type Item = Awaited<ReturnType<PDFDocumentProxy['getOutline']>>[number]

/** The bookmarks of a document in their order, each with its page where it leads to one. */
export async function outlineOf(document: PDFDocumentProxy): Promise<OutlineEntry[]> {
  const top = await document.getOutline().catch(() => [])
  // Null where there is none, which its type does not tell.
  const flat = flatten((top as Item[] | null) ?? [], 1)
  const entries: OutlineEntry[] = []
  for (const { item, level } of flat.slice(0, OUTLINE_ENTRIES_MAX)) {
    const title = item.title
      .replaceAll(/[\s\0]+/g, ' ')
      .trim()
      .slice(0, TITLE_LENGTH_MAX)
    const page = await pageOf(document, item.dest)
    if (title !== '') entries.push({ title, level, ...(page === undefined ? {} : { page }) })
  }
  return entries
}

const flatten = (items: readonly Item[], level: number): { item: Item; level: number }[] =>
  level > LEVELS_MAX ? [] : items.flatMap((item) => [{ item, level }, ...flatten(item.items as Item[], level + 1)])

async function pageOf(document: PDFDocumentProxy, to: Item['dest']): Promise<number | undefined> {
  try {
    const place: unknown = typeof to === 'string' ? await document.getDestination(to) : to
    const [target] = Array.isArray(place) ? (place as unknown[]) : []
    if (typeof target === 'number') return target < document.numPages ? target + 1 : undefined
    if (typeof target !== 'object' || target === null) return undefined
    return (await document.getPageIndex(target as Parameters<PDFDocumentProxy['getPageIndex']>[0])) + 1
  } catch {
    return undefined // It leads nowhere.
  }
}
