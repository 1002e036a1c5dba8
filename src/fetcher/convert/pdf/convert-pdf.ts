import type { PageRange } from '../../../jobs/page-ranges.ts'
import type { Mode } from '../../../jobs/schema.ts'
import type { Conversion, KeepPage } from '../document.ts'
import { failure } from '../failure.ts'

export interface PdfOptions {
  readonly mode: Mode
  readonly pages?: readonly PageRange[] | undefined
}

export async function convertPdf(_body: Uint8Array, _options: PdfOptions, _keepPage: KeepPage): Promise<Conversion> {
  return failure('unsupported_type', 'The document is a PDF document.')
}
