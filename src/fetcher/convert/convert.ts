import type { Mode } from '../../jobs/schema.ts'
import { decodeText } from './charset.ts'
import { parseContentType } from './content-type.ts'
import { convertCsv } from './data/convert-csv.ts'
import type { Conversion, DocumentMeta, KeepPage, SourceDocument } from './document.ts'
import { failure } from './failure.ts'
import { convertFeed } from './feed/convert-feed.ts'
import { readJsonFeed } from './feed/json-feed.ts'
import { readFeed } from './feed/read-feed.ts'
import { convertSitemap } from './feed/sitemap.ts'
import { convertPage } from './html/html-page.ts'
import { type Kind, kindOf, type TextKind } from './kind.ts'
import { convertOffice } from './office/convert-office.ts'
import { convertPdf } from './pdf/convert-pdf.ts'

/**
 * Turns a document into content. Pure: no network, no files; but it takes its time, and memory, on hostile input, so
 * it runs in a process of its own (see `isolation/`).
 * @param keepPage takes the pages of a paged document as they are finished.
 */
export async function convert(source: SourceDocument, keepPage: KeepPage = () => {}): Promise<Conversion> {
  const { body, contentType, mode } = source
  if (isBlank(body)) return failure('empty', 'The document is empty.')
  const header = parseContentType(contentType)
  const found = kindOf(body, header)
  const conversion = await convertKind(found, header.charset, source, keepPage)
  if ('failure' in conversion || conversion.json !== undefined) return conversion
  const isMarkdown = MARKDOWN_MODES.has(mode) && isWrittenAsMarkdown(found)
  return isMarkdown ? { ...conversion, isMarkdown } : conversion
}

const MARKDOWN_MODES = new Set<Mode>(['auto', 'article', 'full'])
/** JSON that is no longer JSON was a feed. */
const MARKDOWN_KINDS = new Set<Kind['kind']>(['html', 'pdf', 'office', 'csv', 'feed', 'json'])

const isWrittenAsMarkdown = (found: Kind): boolean =>
  MARKDOWN_KINDS.has(found.kind) || (found.kind === 'text' && found.mediaType === 'text/markdown')

function convertKind(
  found: Kind,
  label: string | undefined,
  source: SourceDocument,
  keepPage: KeepPage,
): Conversion | Promise<Conversion> {
  const { body, url, mode, pages } = source
  switch (found.kind) {
    case 'binary':
      return failure('unsupported_type', `The document is ${found.name}; it cannot be turned into text.`)
    case 'locked':
      return failure('password_protected', 'The document is protected by a password.')
    case 'broken':
      return failure('bad_document', 'The document is damaged, or was cut off: its archive cannot be read.')
    case 'pdf':
      return convertPdf(body, { mode, pages }, keepPage)
    case 'office':
      return convertOffice(body, found.format, { mode, url, pages }, keepPage)
    case 'html':
    case 'xml':
    case 'feed':
    case 'sitemap':
    case 'json':
    case 'json-lines':
    case 'csv':
    case 'text':
      break
  }
  return convertText(found, label, source)
}

const XML_KINDS = new Set<TextKind['kind']>(['xml', 'feed', 'sitemap'])

function convertText({ kind, mediaType }: TextKind, label: string | undefined, source: SourceDocument): Conversion {
  const { body, url, mode } = source
  const syntax = kind === 'html' ? 'html' : XML_KINDS.has(kind) ? 'xml' : 'other'
  const { text, charset } = decodeText(body, label, syntax)
  if (!/\S/.test(text)) return failure('empty', 'The document holds white space only.')
  const meta = { content_type: mediaType, charset }
  if (mode === 'raw') return { content: text, json: JSON_SHAPES.get(kind), meta, warnings: [] }
  if (kind === 'html') return convertPage(text, url, mode, meta)
  if (kind === 'csv') return convertCsv(text, mode, meta)
  if (kind === 'sitemap') return convertSitemap(text, mode, url, meta)
  const feed = kind === 'feed' ? readFeed(text, url) : kind === 'json' ? readJsonFeed(text, url) : undefined
  return feed ? convertFeed(feed, mode, url, meta) : asItIs(text, mode, kind, meta)
}

const JSON_SHAPES = new Map<TextKind['kind'], 'document' | 'lines'>([
  ['json', 'document'],
  ['json-lines', 'lines'],
])

function asItIs(text: string, mode: Mode, kind: TextKind['kind'], meta: DocumentMeta): Conversion {
  if (mode === 'article') {
    return failure('no_article', `The document is ${meta.content_type}, not a page with a main content.`)
  }
  if (mode === 'html' || mode === 'links' || mode === 'metadata') {
    return failure('unsupported_type', `The document is ${meta.content_type}; mode ${mode} has nothing to give for it.`)
  }
  return { content: text, json: JSON_SHAPES.get(kind), meta, warnings: [] }
}

const WHITE = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x20])

const isBlank = (body: Uint8Array): boolean => body.every((byte) => WHITE.has(byte))
