import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

import type { PageRange } from '../../../jobs/page-ranges.ts'
import type { Mode } from '../../../jobs/schema.ts'
import type { Conversion, Converted, DocumentMeta, KeepPage } from '../document.ts'
import { failure } from '../failure.ts'
import { missesPages, pagesOf } from '../paged.ts'
import { metadataOf, type PdfMetadata } from './metadata.ts'
import { type OpenedPdf, openPdf } from './open-pdf.ts'
import { outlineOf } from './outline.ts'
import { linksOf } from './page-links.ts'
import { pdfText } from './pdf-text.ts'

/** Pages that are read if none are asked for. */
const PAGES_MAX = 500

export interface PdfOptions {
  readonly mode: Mode
  readonly pages?: readonly PageRange[] | undefined
}

/** The pages to read of a document, and what to say about them. */
interface Selection {
  readonly numbers: readonly number[]
  readonly meta: DocumentMeta
  readonly warnings: readonly string[]
}

/**
 * Turns a PDF into Markdown by page, into its links or into its metadata. Failures: `password_protected`,
 * `bad_document`, `no_text_layer` if the pages are pictures, `empty` if there is no page or no text,
 * `unsupported_type` for the modes that it has nothing for.
 */
export async function convertPdf(body: Uint8Array, options: PdfOptions, keepPage: KeepPage): Promise<Conversion> {
  const { mode } = options
  if (mode === 'raw' || mode === 'html') {
    const what = mode === 'raw' ? 'its bytes are no text' : 'it has no HTML'
    return failure('unsupported_type', `The document is a PDF document; ${what}, so mode ${mode} has nothing to give.`)
  }
  const pdf = await openPdf(body)
  if ('failure' in pdf) return pdf
  try {
    return await convertOpened(pdf, options, keepPage)
  } finally {
    await pdf.close()
  }
}

async function convertOpened(pdf: OpenedPdf, { mode, pages }: PdfOptions, keepPage: KeepPage): Promise<Conversion> {
  const total = pdf.document.numPages
  if (total === 0) return failure('empty', 'The document has no pages.')
  const { numbers, warnings, meta: limits } = select(pages, total)
  if (numbers.length === 0) {
    return failure('empty', `None of the pages that were asked for exists; the document has ${pagesText(total)}.`)
  }
  const said = [...pdf.warnings, ...warnings]
  const { meta, json, hasForm } = await describe(pdf.document)
  const known = { ...meta, ...limits }
  if (mode === 'metadata') return jsonContent(json, meta, pdf.warnings)
  if (mode === 'links') {
    return jsonContent(await linksOf(pdf, numbers), { ...known, pages_done: numbers.length }, said)
  }
  return pdfText(pdf, { numbers, meta: known, warnings: said, plain: mode === 'text', hasForm }, keepPage)
}

function select(pages: readonly PageRange[] | undefined, total: number): Selection {
  if (pages !== undefined) {
    const warning = `Some of the pages that were asked for do not exist; the document has ${pagesText(total)}.`
    return { numbers: pagesOf(pages, total), meta: {}, warnings: missesPages(pages, total) ? [warning] : [] }
  }
  if (total <= PAGES_MAX) return { numbers: pagesOf(undefined, total), meta: {}, warnings: [] }
  const warning = `The document has ${total} pages; only the first ${PAGES_MAX} were read. The option pages picks others.`
  return { numbers: pagesOf([{ from: 1, to: PAGES_MAX }], total), meta: { truncated: true }, warnings: [warning] }
}

const pagesText = (count: number): string => (count === 1 ? '1 page' : `${count} pages`)

const NO_METADATA: PdfMetadata = { meta: {}, more: {}, hasForm: false }

interface Description {
  readonly meta: DocumentMeta
  /** What the mode `metadata` gives. */
  readonly json: object
  readonly hasForm: boolean
}

/** What is known of a document before its pages are read. */
async function describe(document: PDFDocumentProxy): Promise<Description> {
  const { meta, more, hasForm } = await metadataOf(document).catch(() => NO_METADATA)
  const outline = await outlineOf(document)
  const known: DocumentMeta = {
    content_type: 'application/pdf',
    ...meta,
    pages_total: document.numPages,
    ...(outline.length > 0 ? { outline } : {}),
  }
  return { meta: known, json: { ...meta, ...more, pages_total: document.numPages, outline }, hasForm }
}

function jsonContent(value: unknown, meta: DocumentMeta, warnings: readonly string[]): Converted {
  return { content: JSON.stringify(value, null, 2), json: 'document', meta, warnings }
}
