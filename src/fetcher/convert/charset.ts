import { labelToName, TextDecoder } from '@exodus/bytes/encoding.js'
import sniff from 'html-encoding-sniffer'

/** Bytes in which a `meta` is looked for. Browsers stop at 1,024 and start anew when they meet a later one. */
const PRESCAN_BYTES = 8_192

export interface DecodedText {
  /** Without a byte order mark. */
  readonly text: string
  /** WHATWG name of the encoding that the text was read with. */
  readonly charset: string
}

/**
 * Reads bytes as text by the WHATWG rules: byte order mark, then the charset of the header, then what the document says
 * itself. If nothing tells, bytes that are valid UTF-8 are UTF-8, others windows-1252. A label that names no encoding
 * counts as none; a byte that fits no encoding becomes U+FFFD. Nothing throws.
 *
 * Node's own decoder has wrong tables for some legacy encodings, so @exodus/bytes does the reading.
 */
export function decodeText(body: Uint8Array, label: string | undefined, syntax: 'html' | 'xml' | 'other'): DecodedText {
  const charset = encodingOf(body, label, syntax)
  if (charset === 'replacement') return { text: '\uFFFD', charset }
  return { text: new TextDecoder(charset).decode(body), charset }
}

function encodingOf(body: Uint8Array, label: string | undefined, syntax: 'html' | 'xml' | 'other'): string {
  const defaultEncoding = isUtf8(body) ? 'UTF-8' : 'windows-1252'
  const known = label !== undefined && labelToName(label) !== null ? { transportLayerEncodingLabel: label } : {}
  const scan = syntax === 'xml' ? { xml: true } : { maxPrescanBytes: syntax === 'html' ? PRESCAN_BYTES : 0 }
  return sniff(body, { defaultEncoding, ...known, ...scan })
}

function isUtf8(body: Uint8Array): boolean {
  try {
    new globalThis.TextDecoder('utf-8', { fatal: true }).decode(body)
    return true
  } catch {
    return false
  }
}
