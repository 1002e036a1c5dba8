import { oleNames } from './ole-names.ts'
import { ZipArchive } from './zip.ts'

/** The formats that are converted. Templates and documents with macros count as the plain ones. */
export type OfficeFormat = 'docx' | 'xlsx' | 'pptx' | 'odt' | 'ods' | 'odp' | 'epub' | 'rtf'

/** The media type of each format. */
export const OFFICE_TYPES: Readonly<Record<OfficeFormat, string>> = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  epub: 'application/epub+zip',
  rtf: 'application/rtf',
}

/** What bytes of an archive or OLE file turn out to be. */
export type OfficeKind =
  | { readonly kind: 'office'; readonly format: OfficeFormat }
  | { readonly kind: 'locked' }
  | { readonly kind: 'broken' }
  /** `name` fits into "The document is …". */
  | { readonly kind: 'other'; readonly name: string }

/** The part that an Office Open XML document of each format has. The main part may have another name. */
const FOLDERS: readonly (readonly [string, OfficeFormat])[] = [
  ['word/', 'docx'],
  ['xl/', 'xlsx'],
  ['ppt/', 'pptx'],
]
const OPEN_DOCUMENT = /^application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)(?:-|$)/
const OPEN_DOCUMENT_FORMATS = new Map<string, OfficeFormat>([
  ['text', 'odt'],
  ['spreadsheet', 'ods'],
  ['presentation', 'odp'],
  ['graphics', 'odp'],
])
/** What the first entry of an office document is called. */
const FIRST_NAMES = /^(?:mimetype|\[Content_Types\]\.xml|_rels\/\.rels)/
const FIRST_NAME_AT = 30

/** Tells what a ZIP archive is by the parts in it. */
export function kindOfZip(body: Uint8Array): OfficeKind {
  try {
    return kindOfArchive(new ZipArchive(body))
  } catch {
    const start = Buffer.from(body.subarray(FIRST_NAME_AT, FIRST_NAME_AT + 64)).toString('latin1')
    return FIRST_NAMES.test(start) ? { kind: 'broken' } : { kind: 'other', name: 'a ZIP archive that is damaged' }
  }
}

function kindOfArchive(archive: ZipArchive): OfficeKind {
  const mimetype = Buffer.from(archive.read('mimetype') ?? [])
    .toString('latin1', 0, 100)
    .trim()
  if (mimetype === OFFICE_TYPES.epub || archive.has('META-INF/container.xml')) return { kind: 'office', format: 'epub' }
  const openDocument = OPEN_DOCUMENT_FORMATS.get(OPEN_DOCUMENT.exec(mimetype)?.[1] ?? '')
  if (openDocument !== undefined) return { kind: 'office', format: openDocument }
  if (archive.has('[Content_Types].xml')) {
    if (archive.has('xl/workbook.bin')) return { kind: 'other', name: 'a binary Excel workbook' }
    const names = [...archive.names]
    const found = FOLDERS.find(([folder]) => names.some((name) => name.startsWith(folder)))
    if (found) return { kind: 'office', format: found[1] }
  }
  return { kind: 'other', name: 'a ZIP archive' }
}

const OLE_STREAMS: readonly (readonly [string, string])[] = [
  ['WordDocument', 'an old Word document'],
  ['Workbook', 'an old Excel document'],
  ['Book', 'an old Excel document'],
  ['PowerPoint Document', 'an old PowerPoint document'],
  ['VisioDocument', 'a Visio document'],
  ['__properties_version1.0', 'an Outlook message'],
]

/** Tells what an OLE file is by the streams in it. Documents with a password are such files, too. */
export function kindOfOle(body: Uint8Array): OfficeKind {
  const names = oleNames(body)
  if (names.has('EncryptedPackage')) return { kind: 'locked' }
  return { kind: 'other', name: OLE_STREAMS.find(([stream]) => names.has(stream))?.[1] ?? 'an old Office document' }
}
