import type { PageLink } from '../html/links-of.ts'
import { type LinkArea, linkAreasOf } from './annotations.ts'
import { linesOf } from './lines.ts'
import type { OpenedPdf } from './open-pdf.ts'
import { type Piece, piecesOf } from './page-pieces.ts'

/** Links that are kept of one document. */
const LINKS_MAX = 10_000
const TEXT_LENGTH_MAX = 500

/** The links of these pages in their order, each address once. Pages that cannot be read have none. */
export async function linksOf(pdf: OpenedPdf, numbers: readonly number[]): Promise<PageLink[]> {
  const links = new Map<string, PageLink>()
  for (const number of numbers) {
    for (const link of await linksOfPage(pdf, number)) {
      if (links.size >= LINKS_MAX) return [...links.values()]
      const known = links.get(link.url)
      if (known === undefined || known.text === '') links.set(link.url, link)
    }
  }
  return [...links.values()]
}

async function linksOfPage(pdf: OpenedPdf, number: number): Promise<PageLink[]> {
  const page = await loadPage(pdf, number)
  return textsUnder(page.areas, page.pieces).map(({ url, text }) => ({
    url,
    text,
    rel: '',
    kind: url.startsWith('mailto:') ? 'mailto' : 'external',
  }))
}

interface LinkedPage {
  readonly areas: readonly LinkArea[]
  readonly pieces: readonly Piece[]
}

async function loadPage({ document, leftOpen }: OpenedPdf, number: number): Promise<LinkedPage> {
  try {
    const page = await document.getPage(number)
    const areas = await linkAreasOf(page)
    const { pieces } = areas.length === 0 ? { pieces: [] } : await piecesOf(page, leftOpen)
    page.cleanup()
    return { areas, pieces }
  } catch {
    return { areas: [], pieces: [] }
  }
}

/** The words whose middle is in the area. A link that goes on on the next line has an area for each. */
function textsUnder(areas: readonly LinkArea[], pieces: readonly Piece[]): { url: string; text: string }[] {
  const texts: { url: string; text: string }[] = []
  for (const { url, rect } of areas) {
    const under = pieces.flatMap((piece) => wordsIn(piece, rect))
    const text = linesOf(under)
      .map((line) => line.text)
      .join(' ')
    const last = texts.at(-1)
    if (last?.url === url) last.text = `${last.text} ${text}`.trim().slice(0, TEXT_LENGTH_MAX)
    else texts.push({ url, text: text.slice(0, TEXT_LENGTH_MAX) })
  }
  return texts
}

function wordsIn(piece: Piece, [left, bottom, right, top]: LinkArea['rect']): Piece[] {
  const middle = piece.y + piece.size / 3
  if (middle < bottom || middle > top || piece.x > right || piece.x + piece.width < left) return []
  const step = piece.width / Math.max(1, piece.text.length)
  const words = [...piece.text.matchAll(/\S+/g)].filter((word) => {
    const center = piece.x + (word.index + word[0].length / 2) * step
    return center >= left && center <= right
  })
  if (words.length === 0) return []
  const from = words[0]?.index ?? 0
  const text = words.map((word) => word[0]).join(' ')
  return [{ ...piece, text, x: piece.x + from * step, width: text.length * step }]
}
