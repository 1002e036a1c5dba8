import type { ContentType } from './content-type.ts'
import { binaryFormat } from './signatures.ts'

/** What a document is. `name` fits into "The document is …". */
export type Kind =
  | { readonly kind: 'html' | 'xml' | 'json' | 'text' | 'pdf'; readonly mediaType: string }
  | { readonly kind: 'binary'; readonly name: string }

/** Bytes looked at to tell text from other data, and to find out how a text begins. */
const SAMPLE_BYTES = 16_384
/** The share of control bytes from which data is no text. Pages with a few stray ones are served and shown every day. */
const CONTROL_SHARE_MAX = 0.01
/** The same for a document that begins like HTML. */
const HTML_CONTROL_SHARE_MAX = 0.3

const HTML_START = /^(?:<\?xml[^>]*>)?\s*(?:<!--[\s\S]*?-->\s*)*(?:<!doctype\s+html|<html[\s>])/i
const XML_START = /^<\?xml[\s?]|^<(?:rss|feed|rdf:RDF|urlset|sitemapindex|svg)[\s>]/
const JSON_START = /^[[{]/

const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml'])
const MEDIA_FAMILIES: Readonly<Record<string, string>> = {
  image: 'an image',
  audio: 'a recording',
  video: 'a video',
  font: 'a font',
}

/**
 * Tells what a document is, by its bytes and then by its header, never by its name.
 *
 * A body that begins with a doctype or tag of HTML is HTML even if the header says `text/plain` or nothing: servers say
 * so of pages by mistake, and who asks for a page wants its text. To see the source there is `mode: raw`.
 */
export function kindOf(body: Uint8Array, { essence, charset }: ContentType): Kind {
  const sample = body.subarray(0, SAMPLE_BYTES)
  const start = startOf(sample)
  const isWide = isWideText(sample, charset)
  const controls = isWide ? 0 : controlShare(sample)
  const format = isWide ? undefined : binaryFormat(sample, controls > CONTROL_SHARE_MAX)
  if (format === 'a PDF document') return { kind: 'pdf', mediaType: 'application/pdf' }
  if (format !== undefined) return { kind: 'binary', name: format }
  const isHtml = HTML_START.test(start)
  if (controls > (isHtml ? HTML_CONTROL_SHARE_MAX : CONTROL_SHARE_MAX)) {
    return { kind: 'binary', name: essence === undefined ? 'binary data' : `binary data (${essence})` }
  }
  if (isHtml) return { kind: 'html', mediaType: HTML_TYPES.has(essence ?? '') ? (essence ?? '') : 'text/html' }

  const family = MEDIA_FAMILIES[essence?.split('/')[0] ?? '']
  const isXml = /(?:\/|\+)xml$/.test(essence ?? '')
  if (family !== undefined && !isXml) return { kind: 'binary', name: `${family} (${essence})` }
  if (essence !== undefined && HTML_TYPES.has(essence)) return labelledHtml(body, start, essence)
  if (isXml) return { kind: 'xml', mediaType: essence ?? 'application/xml' }
  if (/(?:\/|\+)(?:x-)?json$/.test(essence ?? '')) return { kind: 'json', mediaType: essence ?? 'application/json' }
  if (essence !== undefined && essence !== 'application/octet-stream') {
    return { kind: XML_START.test(start) ? 'xml' : 'text', mediaType: essence }
  }
  if (XML_START.test(start)) return { kind: 'xml', mediaType: 'application/xml' }
  if (isJson(body, start)) return { kind: 'json', mediaType: 'application/json' }
  return { kind: 'text', mediaType: 'text/plain' }
}

/** Servers label feeds and JSON as HTML, too. */
function labelledHtml(body: Uint8Array, start: string, essence: string): Kind {
  if (isJson(body, start)) return { kind: 'json', mediaType: 'application/json' }
  if (XML_START.test(start) && !start.startsWith('<svg') && !/<html[\s>]/i.test(start)) {
    return { kind: 'xml', mediaType: 'application/xml' }
  }
  return { kind: 'html', mediaType: essence }
}

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

/** The share of bytes that stand in no text of any encoding but UTF-16 (WHATWG MIME Sniffing, "binary data byte"). */
function controlShare(sample: Uint8Array): number {
  let count = 0
  for (const byte of sample) {
    if (byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f)) count += 1
  }
  return sample.length === 0 ? 0 : count / sample.length
}

function isJson(body: Uint8Array, start: string): boolean {
  if (!JSON_START.test(start)) return false
  try {
    JSON.parse(new TextDecoder().decode(body))
    return true
  } catch {
    return false
  }
}
