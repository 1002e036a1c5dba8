import { deflateSync } from 'node:zlib'

/** An object of a PDF file, from its number on: `<</Type/Page …>>`, or a stream made by `pdfStream`. */
export type PdfObject = string | Buffer

/** Numbers of the objects that `pdfPages` makes itself: the next free one is 4. */
const CATALOG = 1
export const PAGES = 2
export const FONT = 3
export const FIRST_FREE = 4

/** A stream with its dictionary. */
export function pdfStream(data: string | Buffer, dictionary = ''): Buffer {
  const bytes = Buffer.from(data as string, 'latin1')
  const head = `<<${dictionary}/Length ${bytes.length}>>\nstream\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes, Buffer.from('\nendstream')])
}

export const packedStream = (data: string | Buffer): Buffer =>
  pdfStream(deflateSync(data, { level: 9 }), '/Filter/FlateDecode')

/** A file of these objects, the first of them number 1, with a right table. */
export function pdfFile(objects: readonly PdfObject[], trailer = ''): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n%\xE2\xE3\xCF\xD3\n', 'latin1')]
  let length = parts[0]?.length ?? 0
  const places = objects.map((object, index) => {
    const at = length
    const body = Buffer.from(object as string, 'latin1')
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')])
    parts.push(part)
    length += part.length
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`
  const end = `trailer\n<</Size ${size}/Root ${CATALOG} 0 R${trailer}>>\nstartxref\n${length}\n%%EOF\n`
  return Buffer.concat([...parts, Buffer.from(table + end)])
}

interface PdfPageParts {
  /** What the page draws. */
  readonly content: PdfObject
  /** Members of its dictionary. */
  readonly more?: string
}

interface PdfParts {
  readonly pages: readonly (string | PdfPageParts)[]
  /** Members of the catalog. */
  readonly catalog?: string
  readonly trailer?: string
  /** Objects from number `FIRST_FREE` on, before those of the pages. */
  readonly objects?: readonly PdfObject[]
}

/** The number of the object of the page at `index` in a file of `pdfPages`. */
export const pageObject = (index: number, objects: readonly PdfObject[] = []): number =>
  FIRST_FREE + objects.length + index * 2

/** A file of pages in Helvetica, called `/F`; a text alone is written in one line. */
export function pdfPages({ pages, catalog = '', trailer = '', objects = [] }: PdfParts): Buffer {
  const numbers = pages.map((_page, index) => pageObject(index, objects))
  const kids = numbers.map((number) => `${number} 0 R`).join(' ')
  const pageObjects = pages.flatMap((page, index) => {
    const { content, more = '' } = typeof page === 'string' ? { content: pdfStream(textAt(page)) } : page
    const dictionary = `<</Type/Page/Parent ${PAGES} 0 R/Contents ${(numbers[index] ?? 0) + 1} 0 R${more}>>`
    return [dictionary, content]
  })
  const inherited = `/MediaBox[0 0 612 792]/Resources<</Font<</F ${FONT} 0 R>>>>`
  return pdfFile(
    [
      `<</Type/Catalog/Pages ${PAGES} 0 R${catalog}>>`,
      `<</Type/Pages/Count ${pages.length}/Kids[${kids}]${inherited}>>`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      ...objects,
      ...pageObjects,
    ],
    trailer,
  )
}

/** Operators that write a line of text. Lengths are in points. */
export const textAt = (text: string, { size = 12, x = 72, y = 700 } = {}): string =>
  `BT /F ${size} Tf ${x} ${y} Td (${text.replaceAll(/[\\()]/g, '\\$&')}) Tj ET\n`

/** Lines below each other, as a page of `pdfPages`. */
export const pageOfLines = (lines: readonly string[], size = 12): PdfPageParts => ({
  content: pdfStream(lines.map((line, index) => textAt(line, { size, y: 700 - index * size * 1.2 })).join('')),
})

/** A page that is one picture, as a scanner makes it. */
export function scannedPdf(): Buffer {
  const picture = pdfStream(
    Buffer.alloc(100 * 100, 0x80),
    '/Type/XObject/Subtype/Image/Width 100/Height 100/BitsPerComponent 8/ColorSpace/DeviceGray',
  )
  const more = `/Resources<</XObject<</I ${FIRST_FREE} 0 R>>>>`
  return pdfPages({ objects: [picture], pages: [{ content: pdfStream('q 612 0 0 792 0 0 cm /I Do Q'), more }] })
}

/** Text beside a page is not read. */
const HUGE_BOX = '/MediaBox[0 -10000000 10000000 1000]'
/** Bytes that the bombs unpack to. */
const BOMB_BYTES = 128 * 1024 * 1024

/** Documents that unfold into far more than they are, and the like. Built when called. */
export const HOSTILE_PDFS = {
  '128 MB of operators': () => pdfPages({ pages: [{ content: packedStream(Buffer.alloc(BOMB_BYTES, 'q Q ')) }] }),
  '128 MB of blanks, packed twice': () => {
    const once = deflateSync(Buffer.alloc(BOMB_BYTES, ' '), { level: 9 })
    const content = pdfStream(deflateSync(once, { level: 9 }), '/Filter[/FlateDecode/FlateDecode]')
    return pdfPages({ pages: [{ content }] })
  },
  'a paragraph of 15,000 lines': () => {
    const lines = Array.from({ length: 15_000 }, (_, index) => `(line ${index} of many) Tj T*`)
    const content = packedStream(`BT /F 12 Tf 12 TL 72 700 Td ${lines.join('\n')} ET`)
    return pdfPages({ pages: [{ content, more: HUGE_BOX }] })
  },
  'a line of 400,000 dots': () =>
    pdfPages({ pages: [{ content: packedStream(textAt(`${'.'.repeat(400_000)} 12 a b`)), more: HUGE_BOX }] }),
  'a Hebrew line of 200,000 signs': () => {
    const map = '/CMapName/X def 1 begincodespacerange<00><FF>endcodespacerange 1 beginbfchar<41><05D0>endbfchar'
    const font = `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode ${FIRST_FREE + 1} 0 R>>`
    const more = `/Resources<</Font<</F ${FIRST_FREE} 0 R>>>>${HUGE_BOX}`
    const content = packedStream(textAt('A'.repeat(9)) + textAt('1 '.repeat(100_000), { x: 200 }))
    return pdfPages({ objects: [font, pdfStream(map)], pages: [{ content, more }] })
  },
  'an array of 200,000 levels': () =>
    pdfPages({
      objects: ['['.repeat(200_000) + ']'.repeat(200_000)],
      pages: ['shallow'],
      catalog: `/Deep ${FIRST_FREE} 0 R`,
    }),
  '100,000 times the same page': () => {
    const kids = `${FIRST_FREE} 0 R `.repeat(100_000)
    return pdfFile([
      `<</Type/Catalog/Pages ${PAGES} 0 R>>`,
      `<</Type/Pages/Count 100000/Kids[${kids}]>>`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      `<</Type/Page/Parent ${PAGES} 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F ${FONT} 0 R>>>>/Contents 5 0 R>>`,
      pdfStream(textAt('the same')),
    ])
  },
} satisfies Record<string, () => Buffer>
