import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

import type { DocumentMeta } from '../document.ts'
import { oneLine } from '../one-line.ts'
import { pdfDate } from './pdf-date.ts'

/** Characters kept of any one value. */
const VALUE_LENGTH_MAX = 1_000
const LANGUAGE_TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/
/** Titles that programs make up. */
const MADE_UP_TITLE =
  /^untitled(?:[-_ ]?\d+)?$|^microsoft \w+ - |\.(?:docx?|dvi|tex|indd|qxd|ps|pdf|pptx?|xlsx?|odt|html?)$/i

type Named = 'title' | 'byline' | 'description' | 'published' | 'modified' | 'language'

/** What a document says about itself. */
export interface PdfMetadata {
  /** What goes into `meta`. */
  readonly meta: Pick<DocumentMeta, Named>
  /** What only the mode `metadata` gives. */
  readonly more: Partial<Record<'keywords' | 'creator' | 'producer' | 'pdf_version', string>>
  readonly hasForm: boolean
}

/** Reads the document information and, where it is silent, the XMP packet. Members without a value are left out. */
export async function metadataOf(document: PDFDocumentProxy): Promise<PdfMetadata> {
  const { info, metadata } = await document.getMetadata()
  const xmp: unknown = metadata
  const told = (key: string, ...xmpNames: string[]) =>
    lineOf((info as Record<string, unknown>)[key]) ?? xmpNames.map((name) => lineOf(xmpValue(xmp, name))).find(Boolean)
  const title = told('Title', 'dc:title')
  const language = told('Language', 'dc:language')
  const meta = {
    title: title !== undefined && MADE_UP_TITLE.test(title) ? undefined : title,
    byline: told('Author', 'dc:creator'),
    description: told('Subject', 'dc:description'),
    published: dateOf(told('CreationDate', 'xmp:createdate')),
    modified: dateOf(told('ModDate', 'xmp:modifydate')),
    language: language !== undefined && LANGUAGE_TAG.test(language) ? language : undefined,
  }
  const more = {
    keywords: told('Keywords', 'pdf:keywords'),
    creator: told('Creator', 'xmp:creatortool'),
    producer: told('Producer', 'pdf:producer'),
    pdf_version: told('PDFFormatVersion'),
  }
  const { IsAcroFormPresent: hasForm } = info as { IsAcroFormPresent?: unknown }
  return { meta: present(meta), more: present(more), hasForm: hasForm === true }
}

/** @param xmp pdf.js's reader of the packet; null if there is none. */
function xmpValue(xmp: unknown, name: string): unknown {
  const reader = xmp as { get(name: string): unknown } | null
  const value = reader?.get(name)
  return Array.isArray(value) ? value.filter((part) => typeof part === 'string').join(', ') : value
}

/** The document information has dates of PDF, XMP has them in ISO 8601. */
function dateOf(text: string | undefined): string | undefined {
  const isIso = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::[\d.]+)?(?:Z|[+-]\d{2}:\d{2})?)?$/.test(text ?? '')
  return isIso ? text : pdfDate(text ?? '')
}

function lineOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = oneLine(value.replaceAll('\0', '')).slice(0, VALUE_LENGTH_MAX)
  return line === '' ? undefined : line
}

/** The members that have a value. */
function present<Key extends string>(values: Record<Key, string | undefined>): Partial<Record<Key, string>> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Partial<Record<Key, string>>
}
