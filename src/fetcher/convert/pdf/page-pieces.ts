import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

import { plainLetters } from './letters.ts'

/** Pieces and marks that are read of one page: some for each letter of a dense page that places and marks them singly. */
const ITEMS_MAX = 20_000
/** Characters that are read of one page, in UTF-16 code units. */
const PAGE_LENGTH_MAX = 1_000_000

/** A run of text in one font on one line, in the order in which the page draws it. Lengths are in points. */
export interface Piece {
  readonly text: string
  /** Where it starts along its line, and how far it goes. */
  readonly x: number
  readonly width: number
  /** Where its line is: greater is higher up. */
  readonly y: number
  readonly size: number
  readonly endsLine: boolean
  /** In a font whose letters are all as wide, as code is; those of CJK always are. */
  readonly isMono: boolean
  /** The marked content that it belongs to; the structure tree refers to it. */
  readonly tag: string | undefined
  /** Decoration, such as the head and foot of each page, where the document says so. */
  readonly isArtifact: boolean
  /** The innermost marked content around it, as an index into `marks`. */
  readonly mark: number | undefined
}

export interface Pieces {
  readonly pieces: readonly Piece[]
  /** The names of all marked content, in the order in which it begins. */
  readonly marks: readonly string[]
  /** Whether there are letters that their font does not tell. */
  readonly hasGaps: boolean
  /** Whether the page has more than was read. */
  readonly cut: boolean
}

/** Ends the reading of pages. */
export type LeftOpen = (() => Promise<void>)[]

type TextContent = Awaited<ReturnType<PDFPageProxy['getTextContent']>>
type Item = TextContent['items'][number]
type TextItem = Extract<Item, { str: string }>
/** Its types leave out the name of the mark. */
type Marker = Exclude<Item, TextItem> & { readonly tag?: string }

/**
 * Reads the text of a page, up to its bounds: a small page can unfold into endless text.
 * @param leftOpen takes what ends the reading of a page that was left in the middle; see `OpenedPdf`.
 */
export async function piecesOf(page: PDFPageProxy, leftOpen: LeftOpen): Promise<Pieces> {
  const stream = page.streamTextContent({ includeMarkedContent: true }) as ReadableStream<TextContent>
  const reader = stream.getReader()
  const collector = new PieceCollector()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return collector.result(false)
    collector.add(value)
    if (collector.isFull) {
      leftOpen.push(() => reader.cancel(new Error('The page has more text than is read.')))
      return collector.result(true)
    }
  }
}

type Mark = Pick<Piece, 'tag' | 'isArtifact' | 'mark'>
const UNMARKED: Mark = { tag: undefined, isArtifact: false, mark: undefined }

class PieceCollector {
  readonly #pieces: Piece[] = []
  readonly #marks: string[] = []
  readonly #styles = new Map<string, TextContent['styles'][string]>()
  /** The marked content around what comes next, innermost last. */
  readonly #around: Mark[] = []
  #items = 0
  #length = 0
  #hasGaps = false

  get isFull(): boolean {
    return this.#items >= ITEMS_MAX || this.#length >= PAGE_LENGTH_MAX
  }

  result(cut: boolean): Pieces {
    return { pieces: this.#pieces, marks: this.#marks, hasGaps: this.#hasGaps, cut }
  }

  add({ items, styles }: TextContent): void {
    this.#items += items.length
    for (const [name, style] of Object.entries(styles)) this.#styles.set(name, style)
    for (const item of items) {
      if (!('str' in item)) this.#addMark(item)
      else if (item.str !== '' || item.hasEOL) this.#addText(item)
    }
  }

  #addText(item: TextItem): void {
    const isMono = this.#styles.get(item.fontName)?.fontFamily === 'monospace' && !CJK.test(item.str)
    this.#pieces.push({ ...placed(item), ...(this.#around.at(-1) ?? UNMARKED), isMono })
    this.#length += item.str.length
    this.#hasGaps ||= GAP.test(item.str)
  }

  /** What has no number of its own belongs to what is around it. */
  #addMark(item: Marker): void {
    if (item.type === 'endMarkedContent') {
      this.#around.pop()
      return
    }
    const { tag, isArtifact } = this.#around.at(-1) ?? UNMARKED
    const mark = this.#marks.push(item.tag ?? '') - 1
    this.#around.push({ tag: item.id || tag, isArtifact: isArtifact || item.tag === 'Artifact', mark })
  }
}

/** Measures along the line that the text runs on, so that text turned by any angle has lines, too. */
function placed({ str, width, height, hasEOL, transform }: TextItem) {
  const [a, b, c, d, e, f] = transform.map((value) => (Number.isFinite(value) ? Number(value) : 0))
  const [cos, sin] = direction(a ?? 0, b ?? 0)
  const size = height || Math.hypot(c ?? 0, d ?? 0)
  return {
    text: plainLetters(str),
    x: (e ?? 0) * cos + (f ?? 0) * sin,
    y: (f ?? 0) * cos - (e ?? 0) * sin,
    width,
    size,
    endsLine: hasEOL,
  }
}

function direction(a: number, b: number): readonly [cos: number, sin: number] {
  const length = Math.hypot(a, b)
  return length > 0 ? [a / length, b / length] : [1, 0]
}

const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
/** What pdf.js gives for a letter that a font does not tell. */
// oxlint-disable-next-line no-control-regex
const GAP = /[\u0000\uFFFD]/
