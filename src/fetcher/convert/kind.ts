import type { ContentType } from './content-type.ts'
import { type JsonShape, jsonShape } from './data/json-shape.ts'
import { kindOfOle, kindOfZip, OFFICE_TYPES, type OfficeFormat, type OfficeKind } from './office/office-format.ts'
import { binaryFormat, type BinaryFormat } from './signatures.ts'
import { rootName } from './xml/root-name.ts'

/** What a document that is text is. */
export interface TextKind {
  readonly kind: 'html' | 'xml' | 'feed' | 'sitemap' | 'json' | 'json-lines' | 'csv' | 'text'
  readonly mediaType: string
}

/** What a document is. `name` fits into "The document is …". */
export type Kind =
  | TextKind
  | { readonly kind: 'pdf'; readonly mediaType: string }
  | { readonly kind: 'office'; readonly format: OfficeFormat; readonly mediaType: string }
  | { readonly kind: 'binary'; readonly name: string }
  /** An office document that has a password. */
  | { readonly kind: 'locked' }
  /** An office document that is damaged or was cut off. */
  | { readonly kind: 'broken' }

/** Bytes looked at to find out how a document begins, and whether that is text. */
const SAMPLE_BYTES = 16_384
/** Samples of the rest, as far from one another as they can be, and the bytes of each: an archive may follow its installer. */
const LATER_SAMPLES = 8
const LATER_SAMPLE_BYTES = 4_096
/** The share of control bytes from which data is no text. Pages with a few stray ones are served and shown every day. */
const CONTROL_SHARE_MAX = 0.01
/** The same for a document that begins like HTML. */
const HTML_CONTROL_SHARE_MAX = 0.3

const HTML_START = /^(?:<\?xml[^>]*>)?\s*(?:<!--[\s\S]*?-->\s*)*(?:<!doctype\s+html|<html[\s>])/i
const XML_DECLARATION = /^<\?xml[\s?]/
const RSS_1 = 'http://purl.org/rss/1.0/'

const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml'])
const CSV_TYPES = new Set(['text/csv', 'application/csv', 'text/comma-separated-values', 'text/tab-separated-values'])
const JSON_LINES = /^(?:application|text)\/(?:x-)?(?:ndjson|jsonl|json-?lines)$/
/** Headers that say no more than that there are bytes, or text. */
const VAGUE_TYPES = new Set([undefined, 'text/plain', 'application/octet-stream', 'binary/octet-stream'])
const MEDIA_FAMILIES = new Map([
  ['image', 'an image'],
  ['audio', 'a recording'],
  ['video', 'a video'],
  ['font', 'a font'],
])

/**
 * Tells what a document is, by its bytes and then by its header, never by its name.
 *
 * A body that begins with a doctype or tag of HTML is HTML even if the header says `text/plain` or nothing: servers say
 * so of pages by mistake, and who asks for a page wants its text. To see the source there is `mode: raw`. So it is with
 * feeds, sitemaps and JSON. Comma-separated values show no sign in their bytes; for them the header counts.
 */
export function kindOf(body: Uint8Array, { essence, charset }: ContentType): Kind {
  const sample = body.subarray(0, SAMPLE_BYTES)
  const start = startOf(sample)
  const isWide = isWideText(sample, charset)
  const controls = isWide ? 0 : controlShare(sample)
  const format = isWide ? undefined : binaryFormat(sample, controls > CONTROL_SHARE_MAX)
  if (format) return kindOfFormat(body, format)
  const isHtml = HTML_START.test(start)
  const isBinary = isHtml
    ? controls > HTML_CONTROL_SHARE_MAX
    : !isWide && Math.max(controls, ...laterSamples(body).map(controlShare)) > CONTROL_SHARE_MAX
  if (isBinary) {
    return { kind: 'binary', name: essence === undefined ? 'binary data' : `binary data (${essence})` }
  }
  if (isHtml) return { kind: 'html', mediaType: HTML_TYPES.has(essence ?? '') ? (essence ?? '') : 'text/html' }
  const family = MEDIA_FAMILIES.get(essence?.split('/')[0] ?? '')
  if (family !== undefined && !isXmlType(essence)) return { kind: 'binary', name: `${family} (${essence})` }
  return kindOfText(body, start, essence)
}

function kindOfFormat(body: Uint8Array, { name, family }: BinaryFormat): Kind {
  if (family === 'pdf') return { kind: 'pdf', mediaType: 'application/pdf' }
  if (family === 'rtf') return { kind: 'office', format: 'rtf', mediaType: OFFICE_TYPES.rtf }
  if (family === 'zip') return kindOfOffice(kindOfZip(body))
  return family === 'ole' ? kindOfOffice(kindOfOle(body)) : { kind: 'binary', name }
}

function kindOfOffice(found: OfficeKind): Kind {
  if (found.kind === 'other') return { kind: 'binary', name: found.name }
  return found.kind === 'office' ? { ...found, mediaType: OFFICE_TYPES[found.format] } : found
}

function kindOfText(body: Uint8Array, start: string, essence: string | undefined): TextKind {
  const isLabelledHtml = HTML_TYPES.has(essence ?? '')
  const known = kindOfXml(start, essence)
  if (known) return known
  if (JSON_LINES.test(essence ?? '')) return { kind: 'json-lines', mediaType: essence ?? '' }
  if (isJsonType(essence)) {
    return { kind: jsonShape(body, start, true) === 'lines' ? 'json-lines' : 'json', mediaType: essence ?? '' }
  }
  if (isLabelledHtml || VAGUE_TYPES.has(essence)) {
    const shape = jsonShape(body, start, false)
    if (shape !== undefined) return JSON_KINDS[shape]
  }
  if (isLabelledHtml) return { kind: 'html', mediaType: essence ?? '' }
  if (CSV_TYPES.has(essence ?? '')) return { kind: 'csv', mediaType: essence ?? '' }
  return { kind: 'text', mediaType: essence === undefined || isBytesType(essence) ? 'text/plain' : essence }
}

const JSON_KINDS: Readonly<Record<JsonShape, TextKind>> = {
  document: { kind: 'json', mediaType: 'application/json' },
  lines: { kind: 'json-lines', mediaType: 'application/x-ndjson' },
}

const isXmlType = (essence: string | undefined) => /(?:\/|\+)xml$/.test(essence ?? '')
const isJsonType = (essence: string | undefined) => /(?:\/|\+)(?:x-)?json$/.test(essence ?? '')
const isBytesType = (essence: string) => essence.endsWith('/octet-stream')

/** XML by its root, or by its declaration or header. Undefined for what is labelled as HTML and may well be. */
function kindOfXml(start: string, essence: string | undefined): TextKind | undefined {
  const root = start.startsWith('<') ? rootName(start) : undefined
  const told = isXmlType(essence) && !HTML_TYPES.has(essence ?? '') ? essence : undefined
  if (root === 'rss') return { kind: 'feed', mediaType: told ?? 'application/rss+xml' }
  if (root === 'feed') return { kind: 'feed', mediaType: told ?? 'application/atom+xml' }
  if (root === 'RDF' && start.includes(RSS_1)) return { kind: 'feed', mediaType: told ?? 'application/rss+xml' }
  if (root === 'urlset' || root === 'sitemapindex') return { kind: 'sitemap', mediaType: told ?? 'application/xml' }
  if (told !== undefined) return { kind: 'xml', mediaType: told }
  if (root === 'html' || !isXmlStart(start, root)) return undefined
  if (HTML_TYPES.has(essence ?? '') && root === 'svg') return undefined
  const isTold = essence !== undefined && !HTML_TYPES.has(essence) && !isBytesType(essence)
  return { kind: 'xml', mediaType: isTold ? essence : 'application/xml' }
}

const isXmlStart = (start: string, root: string | undefined) =>
  XML_DECLARATION.test(start) || root === 'svg' || root === 'RDF'

/** The first characters without a byte order mark and white space; UTF-16 as far as it is ASCII. */
function startOf(sample: Uint8Array): string {
  const text = Buffer.from(sample).toString('latin1')
  return text.replaceAll('\0', '').replace(/^(?:\xEF\xBB\xBF|\xFF\xFE|\xFE\xFF)?\s*/, '')
}

/** UTF-16 has a NUL in every second byte of an ASCII text. */
function isWideText(sample: Uint8Array, charset: string | undefined): boolean {
  const [first = 0, second = 0] = sample
  const marked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return marked || /^(?:utf-?16|ucs-2|unicode$)/i.test(charset ?? '')
}

/** Pieces of what follows the first sample, the last of them at the end of the document; NULs that fill it up are not its end. */
function laterSamples(body: Uint8Array): Uint8Array[] {
  const end = body.findLastIndex((byte) => byte !== 0) + 1
  const step = (end - SAMPLE_BYTES) / LATER_SAMPLES
  if (step <= 0) return []
  return Array.from({ length: LATER_SAMPLES }, (_, index) => {
    const endOfSample = end - Math.floor(index * step)
    return body.subarray(endOfSample - LATER_SAMPLE_BYTES, endOfSample)
  })
}

/**
 * The share of bytes that stand in no text of any encoding but UTF-16: the "binary data bytes" of WHATWG MIME Sniffing,
 * but for the backspace, with which terminals print over what they printed.
 */
function controlShare(sample: Uint8Array): number {
  let count = 0
  for (const byte of sample) {
    if (byte < 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f)) count += 1
  }
  return sample.length === 0 ? 0 : count / sample.length
}
