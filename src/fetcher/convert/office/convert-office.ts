import { setImmediate } from 'node:timers/promises'

import type { PageRange } from '../../../jobs/page-ranges.ts'
import type { Mode } from '../../../jobs/schema.ts'
import { cutWarning } from '../data/convert-csv.ts'
import { contentOf, type DocumentContent, type DocumentPieces, type DocumentStyle } from '../data/html-pieces.ts'
import { linksContent, metadataContent } from '../data/json-content.ts'
import { linkList, linksInPieces } from '../data/link-list.ts'
import type { Conversion, DocumentMeta, KeepPage, Page } from '../document.ts'
import { failure } from '../failure.ts'
import { joinPages, missesPages, pagesOf } from '../paged.ts'
import type { DocumentWriter } from './document-writer.ts'
import { OfficeError } from './office-error.ts'
import { OFFICE_TYPES, type OfficeFormat } from './office-format.ts'
import { openOffice } from './open-office.ts'
import type { WorkbookWriter } from './workbook-writer.ts'

export interface OfficeOptions {
  readonly mode: Mode
  /** Where the document was found: the base of its relative links. */
  readonly url: string
  readonly pages?: readonly PageRange[] | undefined
}

/** What is known before the content is written. */
interface Known {
  readonly url: string
  readonly style: DocumentStyle
  readonly meta: DocumentMeta
}

/**
 * Turns an office document into Markdown, plain text or HTML, into its links or its metadata. Presentations are paged.
 * Failures: `bad_document`, `password_protected`, `empty`, and `unsupported_type` for mode `raw`.
 */
export async function convertOffice(
  body: Uint8Array,
  format: OfficeFormat,
  options: OfficeOptions,
  keepPage: KeepPage,
): Promise<Conversion> {
  const { mode, url, pages } = options
  if (mode === 'raw') {
    return failure(
      'unsupported_type',
      'The document is an office document; its bytes are no text, so mode raw has nothing to give.',
    )
  }
  try {
    const { meta: told, title, content } = openOffice(body, format)
    const name = told.title ?? title
    const named = { ...told, ...(name === undefined ? {} : { title: name }) }
    const total = 'slides' in content ? { pages_total: content.slides.length } : {}
    const meta = { content_type: OFFICE_TYPES[format], ...named, ...total }
    if (mode === 'metadata') return metadataContent({ ...named, ...total }, meta)
    const known = { url, style: styleOf(mode), meta }
    if ('slides' in content) return await convertSlides(content.slides, known, { mode, pages }, keepPage)
    if ('workbook' in content) return convertWorkbook(content.workbook, known, mode)
    return convertText(content, known, mode)
  } catch (error) {
    if (error instanceof OfficeError) return failure(error.code, error.message)
    throw error
  }
}

const styleOf = (mode: Mode): DocumentStyle => (mode === 'html' || mode === 'text' ? mode : 'markdown')

function convertText(text: DocumentPieces, { url, style, meta }: Known, mode: Mode): Conversion {
  if (mode === 'links') return linksContent(linksInPieces(text.pieces, url, text.prepare), meta)
  return finished(contentOf(text, url, style), meta)
}

function convertWorkbook(workbook: WorkbookWriter, { url, style, meta }: Known, mode: Mode): Conversion {
  if (mode === 'links') return linksContent(linkList(workbook.links(), url), meta)
  const content = workbook.write(style)
  return finished({ content, complete: !workbook.isCut, warnings: workbook.isCut ? [cutWarning()] : [] }, meta)
}

async function convertSlides(
  slides: readonly (() => DocumentWriter)[],
  { url, style, meta }: Known,
  { mode, pages: ranges }: Pick<OfficeOptions, 'mode' | 'pages'>,
  keepPage: KeepPage,
): Promise<Conversion> {
  const numbers = pagesOf(ranges, slides.length)
  if (numbers.length === 0)
    return failure('empty', `The presentation has ${slides.length} slides, and none that was asked for.`)
  const warnings = new Set<string>()
  if (ranges !== undefined && missesPages(ranges, slides.length)) {
    warnings.add(`Some of the pages that were asked for do not exist; the presentation has ${slides.length} slides.`)
  }
  const picked = numbers.map((number) => ({ number, pieces: () => slides[number - 1]?.().pieces() ?? [] }))
  if (mode === 'links')
    return linksContent(
      linksInPieces(
        picked.flatMap(({ pieces }) => pieces()),
        url,
      ),
      meta,
    )
  const pages: Page[] = []
  let isComplete = true
  for (const { number, pieces } of picked) {
    const written = contentOf({ pieces: pieces() }, url, style)
    for (const warning of written.warnings) warnings.add(warning)
    isComplete &&= written.complete
    const page = { number, text: written.content }
    pages.push(page)
    keepPage(page, { ...meta, pages_done: pages.length })
    await setImmediate() // The page leaves the process before the next one takes its time.
  }
  if (pages.every(({ text }) => text === '')) return failure('empty', 'The presentation has no text.')
  const content = { content: joinPages(pages), complete: isComplete, warnings: [...warnings] }
  return finished(content, { ...meta, pages_done: pages.length })
}

function finished({ content, complete, warnings }: DocumentContent, meta: DocumentMeta): Conversion {
  if (content !== '') return { content, meta: complete ? meta : { ...meta, truncated: true }, warnings }
  if (complete) return failure('empty', 'The document has no text.')
  return failure('bad_document', 'The document is nested too deeply, or too large, to be converted.')
}
