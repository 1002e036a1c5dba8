/** Formats that are converted, or that must be looked into to tell what they are. */
type FormatFamily = 'pdf' | 'rtf' | 'zip' | 'ole'

/** What the first bytes of a document show. */
export interface BinaryFormat {
  /** What to call it in a sentence. */
  readonly name: string
  readonly family?: FormatFamily
}

interface Signature extends BinaryFormat {
  /** Bytes that the format starts with, as Latin-1 text. */
  readonly starts: string
  /** Where the bytes stand. Default 0. */
  readonly at?: number
}

/** Bytes at the start in which a PDF may begin after junk, as its readers allow. */
const PDF_WITHIN = 1_024

const PDF: BinaryFormat = { name: 'a PDF document', family: 'pdf' }

const SIGNATURES: readonly Signature[] = [
  { starts: '%PDF-', ...PDF },
  { starts: '%!PS', name: 'a PostScript document' },
  { starts: '{\\rtf', name: 'an RTF document', family: 'rtf' },
  { starts: '\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1', name: 'an old Office document', family: 'ole' },
  { starts: '\x89PNG\r\n\x1A\n', name: 'a PNG image' },
  { starts: '\xFF\xD8\xFF', name: 'a JPEG image' },
  { starts: 'GIF87a', name: 'a GIF image' },
  { starts: 'GIF89a', name: 'a GIF image' },
  { starts: 'WEBP', at: 8, name: 'a WebP image' },
  { starts: 'II*\0', name: 'a TIFF image' },
  { starts: 'MM\0*', name: 'a TIFF image' },
  { starts: '\0\0\x01\0', name: 'an icon' },
  { starts: '\0\0\0\x0CjP  ', name: 'a JPEG 2000 image' },
  { starts: '\xFF\x4F\xFF\x51', name: 'a JPEG 2000 image' },
  { starts: '8BPS', name: 'a Photoshop image' },
  { starts: 'ftypavif', at: 4, name: 'an AVIF image' },
  { starts: 'ftyphei', at: 4, name: 'an HEIF image' },
  { starts: 'ftyp', at: 4, name: 'an MP4 file' },
  { starts: '\x1A\x45\xDF\xA3', name: 'a Matroska or WebM video' },
  { starts: 'AVI ', at: 8, name: 'an AVI video' },
  { starts: 'WAVE', at: 8, name: 'a WAV recording' },
  { starts: 'OggS', name: 'an Ogg recording' },
  { starts: 'fLaC', name: 'a FLAC recording' },
  { starts: 'ID3', name: 'an MP3 recording' },
  { starts: 'AT&TFORM', name: 'a DjVu document' },
  { starts: 'BOOKMOBI', at: 60, name: 'a Kindle book' },
  { starts: 'PK\x03\x04', name: 'a ZIP archive', family: 'zip' },
  { starts: 'PK\x05\x06', name: 'an empty ZIP archive' },
  { starts: '\x1F\x8B', name: 'a gzip archive' },
  { starts: 'BZh', name: 'a bzip2 archive' },
  { starts: '\xFD7zXZ\0', name: 'an XZ archive' },
  { starts: '\x28\xB5\x2F\xFD', name: 'a Zstandard archive' },
  { starts: '7z\xBC\xAF\x27\x1C', name: 'a 7-Zip archive' },
  { starts: 'Rar!\x1A\x07', name: 'a RAR archive' },
  { starts: 'ustar', at: 257, name: 'a tar archive' },
  { starts: 'wOFF', name: 'a font' },
  { starts: 'wOF2', name: 'a font' },
  { starts: '\0asm', name: 'a WebAssembly module' },
  { starts: '\x7FELF', name: 'a program' },
  { starts: 'SQLite format 3\0', name: 'a SQLite database' },
]

/** Tells the binary format that the first bytes show; undefined if they show none. */
export function binaryFormat(head: Uint8Array, looksBinary: boolean): BinaryFormat | undefined {
  const text = Buffer.from(head.subarray(0, PDF_WITHIN)).toString('latin1')
  const known = SIGNATURES.find(({ starts, at = 0 }) => text.startsWith(starts, at))
  if (known) return known
  // A text may tell of PDF; among bytes that are no text, or in a file without any letters before, it is one.
  const pdfAt = text.indexOf('%PDF-')
  if (pdfAt > 0 && (looksBinary || !/[A-Za-z]{4}/.test(text.slice(0, pdfAt)))) return PDF
  return undefined
}
