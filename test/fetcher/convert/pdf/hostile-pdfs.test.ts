import { readFileSync } from 'node:fs'

import { afterAll, describe, expect, it } from 'vitest'

import { createConverter } from '../../../../src/fetcher/isolation/converter.ts'
import { parsePageRanges } from '../../../../src/jobs/page-ranges.ts'
import { FIRST_FREE, HOSTILE_PDFS, packedStream, pdfPages, pdfStream } from '../../../helpers/pdf-files.ts'

/** Longer than the service allows: these are about what comes out, on a machine however busy. */
const converter = createConverter({ timeMsMax: 60_000 })
afterAll(() => converter.close())

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/pdfs/${name}.pdf`, import.meta.url))

const convert = (body: Uint8Array, pages?: string) =>
  converter.convert(
    {
      body,
      url: 'https://x.example/a.pdf',
      contentType: 'application/pdf',
      mode: 'auto',
      pages: pages === undefined ? undefined : parsePageRanges(pages),
    },
    new AbortController().signal,
  )

const TOO_MUCH = { failure: { code: 'bad_document', message: 'The pages unpack to more than can be read.' } }
const containing = (text: string) => ({ content: expect.stringContaining(text) })

describe('hostile documents end within the limits, and the next one is converted:', { timeout: 120_000 }, () => {
  it.each<[string, () => Uint8Array, object, string?]>([
    ['128 MB of operators', HOSTILE_PDFS['128 MB of operators'], TOO_MUCH],
    ['128 MB of blanks, packed twice', HOSTILE_PDFS['128 MB of blanks, packed twice'], TOO_MUCH],
    ['4 GB, packed three times', () => fixture('bomb-nested-4g'), TOO_MUCH],
    ['a paragraph of 15,000 lines', HOSTILE_PDFS['a paragraph of 15,000 lines'], containing('line 14999 of many')],
    ['a line of 400,000 dots', HOSTILE_PDFS['a line of 400,000 dots'], containing('... 12 a b')],
    ['a Hebrew line of 200,000 signs', HOSTILE_PDFS['a Hebrew line of 200,000 signs'], containing('אאא')],
    ['an array of 200,000 levels', HOSTILE_PDFS['an array of 200,000 levels'], containing('shallow')],
    [
      '100,000 times the same page',
      HOSTILE_PDFS['100,000 times the same page'],
      { content: '<!-- page 1 -->\n\nthe same\n\n<!-- page 100000 -->\n\nthe same', meta: { pages_total: 100_000 } },
      '1,-1',
    ],
    [
      'forms in forms that double at each level',
      () => fixture('exp-xobject'),
      {
        ...containing('Hello bomb page'),
        meta: { truncated: true },
        warnings: ['Pages with too much text were cut: 1.'],
      },
    ],
    ['a form in itself', () => fixture('loop-xobject'), containing('Hello bomb page')],
    ['pages in themselves', () => fixture('loop-pages'), containing('Hello bomb page')],
    ['text without a size, and of endless size', () => fixture('huge-width'), containing('Huge')],
  ])('%s', async (_name, build, expected, pages) => {
    expect(await convert(build(), pages)).toMatchObject(expected)
    expect(await convert(pdfPages({ pages: ['next'] }))).toMatchObject(containing('next'))
  })
})

it('keeps the pages before one that takes too much memory', { timeout: 120_000 }, async () => {
  const blanks = packedStream(Buffer.alloc(60 * 1024 * 1024, ' '))
  const good = Array.from({ length: 10 }, (_, index) => `Good page ${index + 1}.`)
  const bad = { content: `[${`${FIRST_FREE} 0 R `.repeat(60)}]` }
  const body = pdfPages({ objects: [blanks], pages: [...good, bad, 'Never reached.'] })
  expect(await convert(body)).toMatchObject({
    content: expect.stringMatching(/<!-- page 10 -->\n\nGood page 10\.$/),
    meta: { pages_total: 12, pages_done: 10, truncated: true },
    warnings: [expect.stringContaining('The content ends with page 10.')],
  })
})

it(
  'reads Chinese without a font in the file, by character maps that the process may read',
  { timeout: 120_000 },
  async () => {
    const objects = [
      '<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[5 0 R]>>',
      '<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>/FontDescriptor 6 0 R>>',
      '<</Type/FontDescriptor/FontName/STSong-Light/Flags 6/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 800/StemV 80>>',
    ]
    const content = pdfStream('BT /C 12 Tf 72 700 Td <4E2D65876D4B8BD5> Tj ET')
    const more = `/Resources<</Font<</C ${FIRST_FREE} 0 R>>>>`
    const body = pdfPages({ objects, pages: [{ content, more }] })
    expect(await convert(body)).toMatchObject({ content: '<!-- page 1 -->\n\n中文测试', warnings: [] })
  },
)
