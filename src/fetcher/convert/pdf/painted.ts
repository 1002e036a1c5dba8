import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

/** Pages that are looked at. */
const PAGES_LOOKED_AT = 3

/** Whether any of the first of these pages draws something: pictures in place, or letters as lines. */
export async function isPainted(document: PDFDocumentProxy, numbers: readonly number[]): Promise<boolean> {
  const { OPS } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const painting = new Set([
    OPS.constructPath,
    OPS.shadingFill,
    OPS.paintInlineImageXObject,
    OPS.paintInlineImageXObjectGroup,
    OPS.paintImageMaskXObject,
    OPS.paintImageXObject,
    OPS.showText,
  ])
  for (const number of numbers.slice(0, PAGES_LOOKED_AT)) {
    try {
      const page = await document.getPage(number)
      const { fnArray } = await page.getOperatorList()
      page.cleanup()
      if (fnArray.some((operator: number) => painting.has(operator))) return true
    } catch {
      // It shows nothing then.
    }
  }
  return false
}
