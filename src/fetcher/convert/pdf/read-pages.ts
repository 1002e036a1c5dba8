import { type FormField, formFieldsOf } from './annotations.ts'
import { type Block, writeBlocks } from './blocks.ts'
import { layoutBlocks, type Looks, looksOf } from './layout.ts'
import { type Line, linesOf } from './lines.ts'
import type { OpenedPdf } from './open-pdf.ts'
import { piecesOf } from './page-pieces.ts'
import { taggedBlocks } from './tagged.ts'

/** Pages that are read before the first is written, to learn how headings look. */
const LOOK_PAGES = 8

/** A page that was read, or could not be. */
export type PdfPage =
  | { readonly number: number; readonly isBroken: true }
  | {
      readonly number: number
      readonly isBroken: false
      readonly text: string
      /** The first heading on it. */
      readonly heading: string | undefined
      /** Whether it has more text than was read. */
      readonly cut: boolean
    }

export interface ReadOptions {
  /** Without marks of Markdown. */
  readonly plain: boolean
  readonly hasForm: boolean
}

/** Reads the pages of these numbers in this order, each once. */
export async function* readPages(
  pdf: OpenedPdf,
  numbers: readonly number[],
  { plain, hasForm }: ReadOptions,
): AsyncGenerator<PdfPage> {
  const looked: Raw[] = []
  for (const number of numbers.slice(0, LOOK_PAGES)) looked.push(await readRaw(pdf, number, hasForm))
  const looks = looksOf(looked.flatMap((raw) => raw.lines))
  // Tags that call all of a document paragraphs say less than the looks do.
  const hasTags = looked.some((raw) => raw.blocks?.some(({ kind }) => kind !== 'paragraph'))
  for (const number of numbers) {
    const raw = looked.shift() ?? (await readRaw(pdf, number, hasForm))
    yield toPage(hasTags ? raw : { ...raw, blocks: undefined }, looks, plain)
  }
}

/** What is read of a page before the looks of headings are known. */
interface Raw {
  readonly number: number
  readonly isBroken: boolean
  readonly cut: boolean
  readonly lines: readonly Line[]
  /** By its tags, where they can be believed. */
  readonly blocks: readonly Block[] | undefined
  readonly fields: readonly FormField[]
}

async function readRaw(pdf: OpenedPdf, number: number, hasForm: boolean): Promise<Raw> {
  const page = await loadPage(pdf, number, hasForm)
  if (!page) return { number, isBroken: true, cut: false, lines: [], blocks: undefined, fields: [] }
  const { pieces, cut } = pdf.fillIn(page.read, page.objectNumber)
  const blocks = taggedBlocks(pieces, page.tree)
  return { number, isBroken: false, cut, lines: linesOf(pieces), blocks, fields: page.fields }
}

/** What pdf.js gives of a page. Undefined if it fails: whatever is wrong with one, the others are worth having. */
async function loadPage({ document, leftOpen }: OpenedPdf, number: number, hasForm: boolean) {
  try {
    const page = await document.getPage(number)
    const read = await piecesOf(page, leftOpen)
    const tree = read.cut ? null : await page.getStructTree()
    const fields = hasForm ? await formFieldsOf(page) : []
    page.cleanup()
    return { read, tree, fields, objectNumber: page.ref?.num }
  } catch {
    return undefined
  }
}

function toPage({ number, isBroken, cut, lines, blocks, fields }: Raw, looks: Looks, plain: boolean): PdfPage {
  if (isBroken) return { number, isBroken }
  const written = [...(blocks ?? layoutBlocks(lines, looks)), ...fields.map(fieldBlock)]
  const heading = written.find((block) => block.kind === 'heading')?.text
  return { number, isBroken: false, text: writeBlocks(written, plain), heading, cut }
}

const fieldBlock = ({ label, value }: FormField): Block => ({
  kind: 'item',
  depth: 0,
  marker: '-',
  text: `${label}: ${value}`,
})
