import { setImmediate } from 'node:timers/promises'

import type { Conversion, DocumentMeta, KeepPage, Page } from '../document.ts'
import { failure } from '../failure.ts'
import { joinPages } from '../paged.ts'
import type { OpenedPdf } from './open-pdf.ts'
import { isPainted } from './painted.ts'
import { type PdfPage, readPages, type ReadOptions } from './read-pages.ts'

/** Characters that are read of one document, in UTF-16 code units: more than is ever stored. */
const TEXT_LENGTH_MAX = 10_000_000

/** Characters of a title that is taken from a heading. */
const TITLE_LENGTH_MAX = 1_000

interface Reading extends ReadOptions {
  readonly numbers: readonly number[]
  /** What is known of the document. */
  readonly meta: DocumentMeta
  readonly warnings: readonly string[]
}

/** What has come of the pages. */
interface Outcome {
  readonly pages: Page[]
  /** The numbers of those that cannot be read, of which the end was left out, and without text. */
  readonly broken: number[]
  readonly cut: number[]
  readonly blank: number[]
  heading: string | undefined
  length: number
}

/** Reads the pages and joins their texts. Failures: `bad_document`, `no_text_layer`, `empty`. */
export async function pdfText(pdf: OpenedPdf, reading: Reading, keepPage: KeepPage): Promise<Conversion> {
  const outcome: Outcome = { pages: [], broken: [], cut: [], blank: [], heading: undefined, length: 0 }
  for await (const read of readPages(pdf, reading.numbers, reading)) {
    const page = add(read, outcome)
    if (page) keepPage(page, metaOf(reading, outcome))
    await setImmediate() // The page leaves the process before the next one takes its time.
    if (outcome.length >= TEXT_LENGTH_MAX) break
  }
  const { pages, broken, blank } = outcome
  if (pages.length > blank.length) return finished(pdf, reading, outcome)
  if (pages.length === 0) return failure('bad_document', `None of its pages can be read: ${numberList(broken)}.`)
  return withoutText(pdf, blank)
}

function add(read: PdfPage, outcome: Outcome): Page | undefined {
  const { number } = read
  if (read.isBroken) {
    outcome.broken.push(number)
    return undefined
  }
  const page = { number, text: read.text }
  outcome.pages.push(page)
  outcome.length += page.text.length
  outcome.heading ??= read.heading
  if (read.cut) outcome.cut.push(number)
  if (page.text === '') outcome.blank.push(number)
  return page
}

function metaOf({ meta }: Reading, { heading, pages }: Outcome): DocumentMeta {
  const title = meta.title ?? heading?.slice(0, TITLE_LENGTH_MAX)
  return { ...meta, ...(title === undefined ? {} : { title }), pages_done: pages.length }
}

function finished(pdf: OpenedPdf, reading: Reading, outcome: Outcome): Conversion {
  const { pages, broken, cut, blank } = outcome
  const last = pages.at(-1)?.number ?? 0
  const isStopped = outcome.length >= TEXT_LENGTH_MAX && last !== reading.numbers.at(-1)
  const warnings = [
    ...reading.warnings,
    ...(broken.length > 0 ? [`Pages that cannot be read were left out: ${numberList(broken)}.`] : []),
    ...(cut.length > 0 ? [`Pages with too much text were cut: ${numberList(cut)}.`] : []),
    ...(isStopped ? [`The document has too much text; what comes after page ${last} was left out.`] : []),
    ...(blank.length > 0 && pdf.hasPictures
      ? [`Pages without text, which may be pictures: ${numberList(blank)}.`]
      : []),
  ]
  const meta = metaOf(reading, outcome)
  const isAll = cut.length === 0 && !isStopped
  return { content: joinPages(pages), meta: isAll ? meta : { ...meta, truncated: true }, warnings }
}

async function withoutText(pdf: OpenedPdf, blank: readonly number[]): Promise<Conversion> {
  if (pdf.hasBombs) return failure('bad_document', 'The pages unpack to more than can be read.')
  if (pdf.hasPictures || (await isPainted(pdf.document, blank))) {
    return failure('no_text_layer', 'The pages are pictures, such as scans, and hold no text.')
  }
  return failure('empty', 'The pages hold no text.')
}

/** `3, 5-7` */
function numberList(numbers: readonly number[]): string {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else runs.push([number, number])
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
