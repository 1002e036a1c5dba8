import type { DocumentPieces } from '../data/html-pieces.ts'
import type { DocumentMeta } from '../document.ts'
import type { DocumentWriter } from './document-writer.ts'
import { readDocx } from './docx.ts'
import { dropInnerLinks, readEpub } from './epub.ts'
import { readOdp, readOdt } from './odf-text.ts'
import { assertOpen, odfMeta } from './odf.ts'
import { readOds } from './ods.ts'
import type { OfficeFormat } from './office-format.ts'
import { opcMeta } from './opc.ts'
import { readPptx } from './pptx.ts'
import { readRtfDocument } from './rtf.ts'
import type { WorkbookWriter } from './workbook-writer.ts'
import { readXlsx } from './xlsx.ts'
import { ZipArchive } from './zip.ts'

/** An office document that has been read, or whose slides can be read one by one. */
export interface OpenedOffice {
  /** What its properties say. */
  readonly meta: DocumentMeta
  /** Its first heading. */
  readonly title?: string | undefined
  readonly content: DocumentPieces | { readonly workbook: WorkbookWriter } | { readonly slides: readonly Slide[] }
}

type Slide = () => DocumentWriter

/** @throws {OfficeError} `bad_document`, `password_protected` */
export function openOffice(body: Uint8Array, format: OfficeFormat): OpenedOffice {
  if (format === 'rtf') {
    const { writer, meta } = readRtfDocument(body)
    return text(writer, meta)
  }
  const archive = new ZipArchive(body)
  switch (format) {
    case 'docx':
      return text(readDocx(archive), opcMeta(archive))
    case 'xlsx':
      return { meta: opcMeta(archive), content: { workbook: readXlsx(archive) } }
    case 'pptx':
      return slides(readPptx(archive), opcMeta(archive))
    case 'epub': {
      const { chapters, meta } = readEpub(archive)
      return { meta, content: { pieces: chapters, prepare: dropInnerLinks } }
    }
    case 'odt':
    case 'ods':
    case 'odp':
      break
  }
  return openOdf(archive, format)
}

function openOdf(archive: ZipArchive, format: 'odt' | 'ods' | 'odp'): OpenedOffice {
  assertOpen(archive)
  const meta = odfMeta(archive)
  if (format === 'odt') return text(readOdt(archive), meta)
  if (format === 'ods') return { meta, content: { workbook: readOds(archive) } }
  return slides(
    readOdp(archive).map((slide) => () => slide),
    meta,
  )
}

const text = (writer: DocumentWriter, meta: DocumentMeta): OpenedOffice => {
  const pieces = writer.pieces()
  return { meta, title: writer.firstHeading, content: { pieces } }
}

const slides = (read: readonly Slide[], meta: DocumentMeta): OpenedOffice => ({
  meta,
  title: meta.title === undefined ? read[0]?.().firstHeading : undefined,
  content: { slides: read },
})
