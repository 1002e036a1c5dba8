import { createRequire } from 'node:module'
import path from 'node:path'

import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

import type { Failed } from '../document.ts'
import { failure } from '../failure.ts'
import { createFillIn, type FillIn } from './actual-text.ts'
import { dropBombs, UNPACKED_BYTES_MAX } from './bombs.ts'
import type { LeftOpen } from './page-pieces.ts'
import { rebuilds } from './rebuild.ts'

/** Where the package keeps its character maps and standard fonts; the child may read there. */
const PACKAGE = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
const MEGABYTE = 1024 * 1024
/** Bytes at the end in which a whole file has its end mark. */
const END_WITHIN = 2_048

export interface OpenedPdf {
  readonly document: PDFDocumentProxy
  /** What was wrong with the file. */
  readonly warnings: readonly string[]
  /** Whether the file holds pictures, on any page. */
  readonly hasPictures: boolean
  readonly fillIn: FillIn
  /** Whether parts of the file were left out for their size. */
  readonly hasBombs: boolean
  /**
   * Pages that were not read to their end. pdf.js waits with them as long as nobody reads on; ended before the document
   * is, it would run through all of the page.
   */
  readonly leftOpen: LeftOpen
  close(): Promise<void>
}

/**
 * Opens a document, damaged ones as far as they can be. `password_protected` if only a password opens it, `bad_document`
 * if it cannot be read.
 */
export async function openPdf(body: Uint8Array): Promise<OpenedPdf | Failed> {
  const file = Buffer.from(body)
  const bombs = dropBombs(file)
  const warnings = warningsOf(file, bombs)
  const hasPictures = /\/Subtype\s*\/Image\b/.test(file.toString('latin1'))
  const opened = (document: PDFDocumentProxy, from: Buffer, ...more: string[]): OpenedPdf => {
    const leftOpen: LeftOpen = []
    return {
      document,
      warnings: [...warnings, ...more],
      hasPictures,
      hasBombs: bombs > 0,
      fillIn: createFillIn(from),
      leftOpen,
      close: () => close(document, leftOpen),
    }
  }

  const first = await load(file)
  if (first === 'locked') return failure('password_protected', 'The document opens with a password only.')
  if (first && (await isSound(first))) return opened(first, file)
  for (const rebuilt of rebuilds(file)) {
    const document = await load(rebuilt)
    if (document === 'locked' || document === undefined) continue
    if (await isSound(document)) {
      await first?.loadingTask.destroy()
      return opened(document, rebuilt, 'The document is damaged; what could be found of it was put together again.')
    }
    await document.loadingTask.destroy()
  }
  return first ? opened(first, file) : failure('bad_document', 'The document is damaged and cannot be read as a PDF.')
}

function warningsOf(file: Buffer, bombs: number): string[] {
  const size = UNPACKED_BYTES_MAX / MEGABYTE
  const isWhole = file.subarray(-END_WITHIN).includes('%%EOF')
  return [
    ...(bombs > 0 ? [`Parts of the document that unpack to more than ${size} MB were left out: ${bombs}.`] : []),
    ...(isWhole ? [] : ['The document has no end mark; it may be cut off.']),
  ]
}

async function close(document: PDFDocumentProxy, leftOpen: LeftOpen): Promise<void> {
  const closed = document.loadingTask.destroy()
  await Promise.all([closed, ...leftOpen.map((end) => end())])
}

/** Reads the structure of a file; undefined if it has none. The import is late: only who has a PDF pays for it. */
async function load(file: Buffer): Promise<PDFDocumentProxy | 'locked' | undefined> {
  const { getDocument, PasswordException, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const task = getDocument({
    data: Uint8Array.from(file), // A copy: it is handed over for good.
    cMapUrl: path.join(PACKAGE, 'cmaps/'),
    standardFontDataUrl: path.join(PACKAGE, 'standard_fonts/'),
    wasmUrl: path.join(PACKAGE, 'wasm/'),
    verbosity: VerbosityLevel.ERRORS,
    useSystemFonts: false,
    disableFontFace: true,
    maxImageSize: 0, // Pixels: no picture is ever decoded.
  })
  try {
    return await task.promise
  } catch (error) {
    await task.destroy()
    return error instanceof PasswordException ? 'locked' : undefined
  }
}

/** Whether the list of pages is whole, as far as its ends show. A document without pages is sound. */
async function isSound(document: PDFDocumentProxy): Promise<boolean> {
  if (document.numPages === 0) return true
  try {
    await document.getPage(1)
    await document.getPage(document.numPages)
    return true
  } catch {
    return false
  }
}
