import { decodeText } from './charset.ts'
import { parseContentType } from './content-type.ts'
import type { Conversion, KeepPage, SourceDocument } from './document.ts'
import { failure } from './failure.ts'
import { convertPage } from './html/html-page.ts'
import { kindOf } from './kind.ts'
import { convertPdf } from './pdf/convert-pdf.ts'

/**
 * Turns a document into content. Pure: no network, no files; but it takes its time, and memory, on hostile input, so
 * it runs in a process of its own (see `isolation/`).
 * @param keepPage takes the pages of a paged document as they are finished.
 */
export async function convert(source: SourceDocument, keepPage: KeepPage = () => {}): Promise<Conversion> {
  const { body, url, contentType, mode, pages } = source
  const header = parseContentType(contentType)
  if (isBlank(body)) return failure('empty', 'The document is empty.')
  const found = kindOf(body, header)
  if (found.kind === 'binary') {
    return failure('unsupported_type', `The document is ${found.name}; it cannot be turned into text.`)
  }
  if (found.kind === 'pdf') return convertPdf(body, { mode, pages }, keepPage)
  const syntax = found.kind === 'html' || found.kind === 'xml' ? found.kind : 'other'
  const { text, charset } = decodeText(body, header.charset, syntax)
  if (!/\S/.test(text)) return failure('empty', 'The document holds white space only.')
  const meta = { content_type: found.mediaType, charset }
  const asItIs = { content: text, meta, warnings: [] }
  switch (mode) {
    case 'raw':
      return asItIs
    case 'auto':
    case 'full':
    case 'text':
      return found.kind === 'html' ? convertPage(text, url, mode, meta) : asItIs
    case 'article':
      if (found.kind === 'html') return convertPage(text, url, mode, meta)
      return failure('no_article', `The document is ${found.mediaType}, not a page with a main content.`)
    case 'html':
    case 'links':
    case 'metadata':
      break
  }
  throw new Error(`Mode ${mode} is not available.`)
}

const WHITE = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x20])

const isBlank = (body: Uint8Array): boolean => body.every((byte) => WHITE.has(byte))
