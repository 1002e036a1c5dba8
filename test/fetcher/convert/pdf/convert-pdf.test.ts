import { readdirSync, readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { wordOrder, wordRecall } from '../../../../bench/lib/pdf-scores.ts'
import type { DocumentMeta, Page } from '../../../../src/fetcher/convert/document.ts'
import { convertPdf, type PdfOptions } from '../../../../src/fetcher/convert/pdf/convert-pdf.ts'
import { parsePageRanges } from '../../../../src/jobs/page-ranges.ts'
import type { Mode } from '../../../../src/jobs/schema.ts'
import {
  FIRST_FREE,
  FONT,
  PAGES,
  packedStream,
  pageObject,
  pageOfLines,
  pdfFile,
  pdfPages,
  pdfStream,
  scannedPdf,
  textAt,
} from '../../../helpers/pdf-files.ts'

const FOLDER = new URL('../../../fixtures/pdfs/', import.meta.url)
const fixture = (name: string) => readFileSync(new URL(`${name}.pdf`, FOLDER))
const truthOf = (name: string) => readFileSync(new URL(`truth/${name}.txt`, FOLDER), 'utf8')

async function run(body: Uint8Array, options: Partial<PdfOptions> = {}) {
  const kept: { page: Page; meta: DocumentMeta }[] = []
  const conversion = await convertPdf(body, { mode: 'auto', ...options }, (page, meta) => kept.push({ page, meta }))
  return { conversion, kept }
}
async function converted(body: Uint8Array, options: Partial<PdfOptions> = {}) {
  const { conversion } = await run(body, options)
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion
}
const contentOf = async (body: Uint8Array, options: Partial<PdfOptions> = {}) =>
  (await converted(body, options)).content
async function failureOf(body: Uint8Array, options: Partial<PdfOptions> = {}) {
  const { conversion } = await run(body, options)
  return 'failure' in conversion ? conversion.failure : undefined
}
const pagesIn = (content: string) => Array.from(content.matchAll(/<!-- page (\d+) -->/g), ([, page]) => Number(page))
const asked = (pages: string) => ({ pages: parsePageRanges(pages) })

const numbered = (count: number) =>
  pdfPages({ pages: Array.from({ length: count }, (_, index) => `This is page ${index + 1}.`) })

describe('the text of', () => {
  const names = readdirSync(new URL('truth/', FOLDER)).map((name) => name.replace('.txt', ''))

  it.each(names)('%s comes whole and in order', async (name) => {
    const content = await contentOf(fixture(name), { mode: 'text' })
    const text = content.replaceAll(/<!-- page \d+ -->/g, '')
    expect(wordRecall(truthOf(name), text)).toBeGreaterThanOrEqual(0.95)
    expect(wordOrder(truthOf(name), text)).toBeGreaterThanOrEqual(0.95)
  })
})

describe('pages', () => {
  it('come each under its number, and are told as they are finished', async () => {
    const { conversion, kept } = await run(numbered(12))
    expect(conversion).toMatchObject({ meta: { pages_total: 12, pages_done: 12 }, warnings: [] })
    expect('content' in conversion && pagesIn(conversion.content)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
    expect(kept.map(({ page }) => page.number)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
    expect(kept[6]).toMatchObject({
      page: { number: 7, text: 'This is page 7.' },
      meta: { content_type: 'application/pdf', pages_total: 12, pages_done: 7 },
    })
  })

  it.each([
    ['7-9', [7, 8, 9]],
    ['290-', [290, 291, 292, 293, 294, 295, 296, 297, 298, 299, 300]],
    ['-2', [299, 300]],
    ['5,1-2,2', [1, 2, 5]],
  ])('that are asked for by %s come alone', async (ranges, numbers) => {
    const { content, meta, warnings } = await converted(numbered(300), asked(ranges))
    expect(pagesIn(content)).toEqual(numbers)
    for (const number of numbers) expect(content).toContain(`This is page ${number}.`)
    expect(meta).toMatchObject({ pages_total: 300, pages_done: numbers.length })
    expect(meta.truncated).toBeUndefined()
    expect(warnings).toEqual([])
  })

  it('beyond the last one are warned of', async () => {
    const { content, warnings } = await converted(numbered(12), asked('11-14'))
    expect(pagesIn(content)).toEqual([11, 12])
    expect(warnings).toEqual(['Some of the pages that were asked for do not exist; the document has 12 pages.'])
  })

  it('that all do not exist are a failure that tells how many there are', async () => {
    expect(await failureOf(numbered(12), asked('500'))).toEqual({
      code: 'empty',
      message: 'None of the pages that were asked for exists; the document has 12 pages.',
    })
  })

  it('after the first 500 come only when they are asked for', async () => {
    const { content, meta, warnings } = await converted(numbered(503))
    expect(pagesIn(content)).toHaveLength(500)
    expect(meta).toMatchObject({ pages_total: 503, pages_done: 500, truncated: true })
    expect(warnings).toEqual([expect.stringContaining('503 pages; only the first 500 were read')])
    expect(await contentOf(numbered(503), asked('503'))).toContain('This is page 503.')
  })

  /** A file of four pages, of which those in the middle are `kid`. */
  const withKid = (kid: string) =>
    pdfFile([
      `<</Type/Catalog/Pages ${PAGES} 0 R>>`,
      `<</Type/Pages/Count 4/Kids[4 0 R 5 0 R 5 0 R 4 0 R]/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>>>`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      `<</Type/Page/Parent ${PAGES} 0 R/Contents 6 0 R>>`,
      kid,
      pdfStream(textAt('A good page.')),
    ])

  it('that are broken do not take the others with them', async () => {
    const { content, meta, warnings } = await converted(withKid('<</Type/Pages/Kids[5 0 R]/Count 1>>'))
    expect(pagesIn(content)).toEqual([1, 4])
    expect(meta).toMatchObject({ pages_total: 4, pages_done: 2 })
    expect(warnings).toEqual(['Pages that cannot be read were left out: 2-3.'])
  })

  it('with more text than is read are cut, and the rest is left out', { timeout: 120_000 }, async () => {
    const body = pdfFile([
      `<</Type/Catalog/Pages ${PAGES} 0 R>>`,
      `<</Type/Pages/Count 12/Kids[${'4 0 R '.repeat(12)}]/MediaBox[0 0 9000000 792]/Resources<</Font<</F ${FONT} 0 R>>>>>>`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      `<</Type/Page/Parent ${PAGES} 0 R/Contents 5 0 R>>`,
      packedStream(textAt('so many words '.repeat(80_000))),
    ])
    const { content, meta, warnings } = await converted(body, { mode: 'text' })
    expect(content.length).toBeGreaterThan(10_000_000)
    expect(meta).toMatchObject({ pages_total: 12, truncated: true })
    const last = pagesIn(content).at(-1)
    expect(last).toBeLessThan(12)
    expect(warnings).toContain(`The document has too much text; what comes after page ${last} was left out.`)
  })

  it('that are no pages do not hide those after them', async () => {
    const { content, warnings } = await converted(withKid('(no page)'))
    expect(content).toContain('A good page.')
    expect(warnings).toEqual([expect.stringContaining('The document is damaged')])
  })

  it('that are all broken are bad_document', async () => {
    expect(await failureOf(withKid('<</Type/Pages/Kids[5 0 R]/Count 1>>'), asked('2-3'))).toEqual({
      code: 'bad_document',
      message: 'None of its pages can be read: 2-3.',
    })
  })
})

describe('a page without tags', () => {
  it('has headings by size, in a rank for the whole document', async () => {
    const content = await contentOf(fixture('twocol-latex'))
    expect(content).toContain('\n# Efficient Offices\n')
    for (const number of [1, 2, 3, 4]) expect(content).toContain(`\n## ${number} Section number ${number}\n`)
  })

  it('has no heading where all text has one size', async () => {
    const { content, meta } = await converted(
      pdfPages({ pages: ['Just one line.'], trailer: `/Info ${FIRST_FREE} 0 R`, objects: ['<</Title(Its title)>>'] }),
    )
    expect(content).toBe('<!-- page 1 -->\n\nJust one line.')
    expect(meta.title).toBe('Its title')
  })

  it('has paragraphs of whole words', async () => {
    const content = await contentOf(fixture('twocol-latex'))
    expect(content).toContain('flow of a offers fluffy measured flow')
    expect(content).not.toMatch(/\p{L}-\s\p{Ll}/u)
  })

  it('has lists with their depth', async () => {
    const at = (text: string, x: number, y: number) => textAt(text, { x, y })
    const lines = [
      at('An introduction to the list.', 72, 700),
      at('\x95 outer', 80, 670),
      at('\x95 inner', 100, 655),
      at('that goes on', 110, 640),
      at('\x95 outer again', 80, 625),
      at('1. first', 80, 595),
      at('2. second', 80, 580),
    ]
    const objects = ['<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>']
    const more = `/Resources<</Font<</F ${FIRST_FREE} 0 R>>>>`
    const content = await contentOf(pdfPages({ objects, pages: [{ content: pdfStream(lines.join('')), more }] }))
    expect(content).toContain(
      'An introduction to the list.\n\n- outer\n  - inner that goes on\n- outer again\n1. first\n2. second',
    )
  })

  it('has a paragraph after each line that ends before it must', async () => {
    const wide = 'A line that goes on as far to the right as the column does,'
    const content = await contentOf(pdfPages({ pages: [pageOfLines([wide, 'and ends here.', 'Short', wide, 'End.'])] }))
    expect(content).toBe(`<!-- page 1 -->\n\n${wide} and ends here.\n\nShort\n\n${wide} End.`)
  })

  it('has an entry of a table of contents a line, without its dots', async () => {
    const lines = [
      '1 Introduction . . . . . . . . . . 1',
      '1.1 The first part............... 12',
      'Index . . . . . . ii',
    ]
    expect(await contentOf(pdfPages({ pages: [pageOfLines(lines)] }))).toBe(
      '<!-- page 1 -->\n\n1 Introduction … 1\n\n1.1 The first part … 12\n\nIndex … ii',
    )
  })

  it('has code line by line, by its font', async () => {
    const mono = (text: string, x: number, y: number) => textAt(text, { x, y }).replace('/F ', '/M ')
    const lines = [
      textAt('This is how a loop is written, in the language of this book:'),
      mono('for (;;) {', 72, 670),
      mono('*step()', 86.4, 656),
      mono('}', 72, 628),
      textAt('And so on. There is nothing more to say about it.', { y: 600 }),
    ]
    const objects = ['<</Type/Font/Subtype/Type1/BaseFont/Courier>>']
    const more = `/Resources<</Font<</F ${FONT} 0 R/M ${FIRST_FREE} 0 R>>>>`
    const body = pdfPages({ objects, pages: [{ content: pdfStream(lines.join('')), more }] })
    expect(await contentOf(body)).toContain('\n\n```\nfor (;;) {\n  *step()\n\n}\n```\n\nAnd so on.')
  })

  it('in a typewriter font is no code', async () => {
    const body = numbered(1).toString('latin1').replace('/Helvetica', '/Courier')
    expect(await contentOf(Buffer.from(body, 'latin1'))).toBe('<!-- page 1 -->\n\nThis is page 1.')
  })

  it('reads text that runs up the page', async () => {
    const turned = 'BT /F 12 Tf 0 1 -1 0 100 100 Tm (Turned by) Tj 0 1 -1 0 114 100 Tm (ninety degrees.) Tj ET'
    expect(await contentOf(pdfPages({ pages: [{ content: pdfStream(turned) }] }))).toContain(
      'Turned by ninety degrees.',
    )
  })

  it('reads text once that is drawn twice to look bold', async () => {
    const bold = textAt('Bold') + textAt('Bold', { x: 72.3 })
    expect(await contentOf(pdfPages({ pages: [{ content: pdfStream(bold) }] }))).toBe('<!-- page 1 -->\n\nBold')
  })

  it('cannot forge headings, HTML, links or emphasis', async () => {
    const lines = ['# no heading', '<b>no HTML</b>', '[no](http://link.example)', '*no emphasis*']
    const content = await contentOf(pdfPages({ pages: lines.map((line) => pageOfLines([line])) }))
    for (const escaped of ['\\# no', '\\<b>no', '[no\\](http', '\\*no emphasis\\*']) expect(content).toContain(escaped)
  })

  it.each(['auto', 'text'] as const)('cannot forge marks of pages in mode %s', async (mode) => {
    const body = pdfPages({ pages: ['<!-- page 9 -->', 'The end.'] })
    expect(pagesIn(await contentOf(body, { mode }))).toEqual([1, 2])
  })
})

describe('a page with tags', () => {
  it('has their headings, lists and quotes', async () => {
    const content = await contentOf(fixture('struct'))
    for (const part of [
      '# Main title\n',
      '\n## Second level\n',
      '\n- first point\n- second point\n- third point\n',
      '\n1. one\n2. two\n',
      '\n### Third level\n',
    ]) {
      expect(content).toContain(part)
    }
  })

  it('has their tables, with every row and cell', async () => {
    const content = await contentOf(fixture('table-plain'))
    expect(content).toContain('| Name | Amount | Colour note | Ratio |\n| --- | --- | --- | --- |\n| row0 | 829,474 |')
    expect(content).toContain(
      '| row3 | 444,599 | very long cell text that wraps over several lines in the table | 0.624 |',
    )
    const rows = content.split('\n').filter((line) => /^\| row\d+ \|/.test(line))
    expect(rows).toHaveLength(60)
    for (const row of rows) expect(row.match(/(?<!\\)\|/g)).toHaveLength(5)
  })

  /** A page that draws `inTag` in the tag `role`, and `outside`. */
  const tagged = (role: string, inTag: string, outside = '') => {
    const objects = [
      '<</Type/StructTreeRoot/K 5 0 R/ParentTree<</Nums[0[5 0 R]]>>>>',
      `<</Type/StructElem/S/${role}/P 4 0 R/Pg 6 0 R/K 0>>`,
    ]
    const page = { content: pdfStream(`/${role} <</MCID 0>> BDC ${inTag} EMC ${outside}`), more: '/StructParents 0' }
    expect(pageObject(0, objects)).toBe(6)
    return pdfPages({ objects, catalog: '/StructTreeRoot 4 0 R/MarkInfo<</Marked true>>', pages: [page] })
  }

  it('is read by them where they leave out little, which comes at the end', async () => {
    const body = tagged('H2', textAt('All of the text of this page'), textAt('1', { y: 30 }))
    expect(await contentOf(body)).toBe('<!-- page 1 -->\n\n## All of the text of this page\n\n1')
  })

  it('comes without what they call decoration', async () => {
    const foot = `/Artifact <</Type/Pagination>> BDC ${textAt('Page 1 of 1', { y: 30 })} EMC`
    const body = tagged('H2', textAt('All of the text of this page'), foot)
    expect(await contentOf(body)).toBe('<!-- page 1 -->\n\n## All of the text of this page')
  })

  it('is read by its layout where they leave out some of the text', async () => {
    const body = tagged('H2', textAt('A part'), textAt('of the text, and much more of it', { y: 600 }))
    expect(await contentOf(body)).toBe('<!-- page 1 -->\n\nA part\n\nof the text, and much more of it')
  })

  it('is read by its layout where they call everything a paragraph', async () => {
    const body = tagged('P', textAt('A title', { size: 24 }) + textAt('And the text below it.', { y: 600 }))
    expect(await contentOf(body)).toBe('<!-- page 1 -->\n\n# A title\n\nAnd the text below it.')
  })
})

describe('writing systems', () => {
  it('that run from right to left come in the order of reading, with their numbers', async () => {
    const content = await contentOf(fixture('rtl'))
    expect(content).toContain('# عنوان الصفحة')
    expect(content).toContain('وقد وهبوا عقلا وضميرا 7.')
    expect(content).toContain('ושווים בערכם ובזכויותיהם mixed English words 7.')
  })

  it('without blanks between words come without any, and in letters instead of radicals', async () => {
    const content = await contentOf(fixture('cjk'))
    expect(content).toContain('天地玄黄宇宙洪荒日月盈昃辰宿列张')
    expect(content).toContain('みしゑひもせす。カタカナも漢字も混ぜます。')
  })

  it('whose letters join come with the letters that the document gives beside them', async () => {
    const content = await contentOf(fixture('scripts'))
    expect(content).toContain('सभी मनुष्यों को गौरव और अधिकारों के मामले में')
    expect(content).toContain('มนุษย์ทั้งหลายเกิดมามีอิสระ')
    expect(content).toContain('naïve café, Straße, file, 😀 emoji')
  })
})

describe('a form', () => {
  const field = (more: string) => `<</Type/Annot/Subtype/Widget/Rect[100 600 300 620]${more}>>`
  const objects = [
    `<</Fields[5 0 R 6 0 R 7 0 R 8 0 R 9 0 R 10 0 R]/DA(/F 12 Tf)>>`,
    field('/FT/Tx/T(name)/TU(Full name)/V(Ada Marsh)'),
    field('/FT/Tx/T(empty)'),
    field('/FT/Btn/T(agree)/V/Yes/AS/Yes/AP<</N<</Yes 11 0 R/Off 11 0 R>>>>'),
    field('/FT/Ch/Ff 131072/T(country)/Opt[[(de)(Germany)][(fr)(France)]]/V(fr)'),
    field('/FT/Tx/Ff 8192/T(password)/V(hunter2)'),
    field('/FT/Btn/T(news)/AS/Off/AP<</N<</Yes 11 0 R/Off 11 0 R>>>>'),
    pdfStream('', '/Type/XObject/Subtype/Form/BBox[0 0 10 10]'),
  ]
  const body = pdfPages({
    objects,
    catalog: '/AcroForm 4 0 R',
    pages: [{ content: pdfStream(textAt('Please fill in.')), more: '/Annots[5 0 R 6 0 R 7 0 R 8 0 R 9 0 R 10 0 R]' }],
  })

  it('comes with what was filled in, but no password', async () => {
    expect(await contentOf(body)).toBe(
      '<!-- page 1 -->\n\nPlease fill in.\n\n- Full name: Ada Marsh\n- agree: yes\n- country: France\n- news: no',
    )
  })
})

describe('what a document says about itself', () => {
  const objects = [
    "<</Title(The keepers)/Author(Ada Marsh)/Subject(Lights)/Keywords(sea, light)/CreationDate(D:20240305083000+01'00')/ModDate(D:20240306)>>",
    '<</Type/Outlines/First 6 0 R/Last 7 0 R/Count 3>>',
    '<</Title(One)/Parent 5 0 R/Next 7 0 R/Dest[9 0 R /Fit]/First 8 0 R/Last 8 0 R/Count 1>>',
    '<</Title(Two)/Parent 5 0 R/Prev 6 0 R/Dest[11 0 R /Fit]>>',
    '<</Title(One and a half)/Parent 6 0 R/Dest/nowhere>>',
  ]
  const body = pdfPages({
    objects,
    catalog: '/Outlines 5 0 R/Lang(en-GB)',
    trailer: '/Info 4 0 R',
    pages: ['First.', 'Second.'],
  })
  const said = {
    title: 'The keepers',
    byline: 'Ada Marsh',
    description: 'Lights',
    published: '2024-03-05T07:30:00Z',
    modified: '2024-03-06T00:00:00Z',
    language: 'en-GB',
  }
  const outline = [
    { title: 'One', level: 1, page: 1 },
    { title: 'One and a half', level: 2 },
    { title: 'Two', level: 1, page: 2 },
  ]

  it('is in meta', async () => {
    expect(pageObject(0, objects)).toBe(9)
    expect((await converted(body)).meta).toEqual({
      content_type: 'application/pdf',
      ...said,
      pages_total: 2,
      pages_done: 2,
      outline,
    })
  })

  it('is the content in mode metadata', async () => {
    const { content, json } = await converted(body, { mode: 'metadata' })
    expect(json).toBe('document')
    expect(content).toContain('\n  "title": "The keepers"')
    expect(JSON.parse(content)).toEqual({
      ...said,
      keywords: 'sea, light',
      pdf_version: '1.7',
      pages_total: 2,
      outline,
    })
  })

  it('is in its XMP packet, too', async () => {
    const packet = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
      xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
      xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><dc:title><rdf:Alt><rdf:li
      xml:lang="x-default">Title by XMP</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq><rdf:li>Ada Marsh</rdf:li>
      <rdf:li>Bo Reed</rdf:li></rdf:Seq></dc:creator><xmp:CreateDate>2024-03-05T08:30:00+01:00</xmp:CreateDate>
      </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
    const metadata = pdfStream(packet, '/Type/Metadata/Subtype/XML')
    const { meta } = await converted(pdfPages({ objects: [metadata], catalog: '/Metadata 4 0 R', pages: ['a'] }))
    expect(meta).toMatchObject({
      title: 'Title by XMP',
      byline: 'Ada Marsh, Bo Reed',
      published: '2024-03-05T08:30:00+01:00',
    })
  })

  it('has the first heading as title where there is none, or one that a program made up', async () => {
    const page = {
      content: pdfStream(textAt('Real title', { size: 24 }) + textAt('The body of the text.', { y: 600 })),
    }
    for (const title of ['', '/Title()', '/Title(Microsoft Word - draft.doc)', '/Title(paper.dvi)']) {
      const { meta } = await converted(pdfPages({ objects: [`<<${title}>>`], trailer: '/Info 4 0 R', pages: [page] }))
      expect(meta.title).toBe('Real title')
    }
  })

  it('has no more than 500 entries of the outline', async () => {
    const entry = (index: number) =>
      `<</Title(Entry ${index})/Parent 4 0 R${index < 600 ? `/Next ${index + 5} 0 R` : ''}/Dest[0 /Fit]>>`
    const entries = Array.from({ length: 600 }, (_, index) => entry(index + 1))
    const all = ['<</Type/Outlines/First 5 0 R/Last 604 0 R/Count 600>>', ...entries]
    const { meta } = await converted(pdfPages({ objects: all, catalog: '/Outlines 4 0 R', pages: ['a'] }))
    expect(meta.outline).toHaveLength(500)
    expect(meta.outline?.[499]).toEqual({ title: 'Entry 500', level: 1, page: 1 })
  })
})

describe('mode', () => {
  it('text has no marks of Markdown', async () => {
    const content = await contentOf(fixture('struct'), { mode: 'text' })
    expect(content).toContain('\nMain title\n')
    expect(content).not.toMatch(/^#|^>|\*\*/m)
    expect(await contentOf(fixture('table-plain'), { mode: 'text' })).toContain('row0\t829,474\tgreen\t0.689')
  })

  it.each(['article', 'full'] as const)('%s is the same as auto', async (mode) => {
    expect(await contentOf(fixture('struct'), { mode })).toBe(await contentOf(fixture('struct')))
  })

  it.each(['raw', 'html'] as Mode[])('%s has nothing to give', async (mode) => {
    expect(await failureOf(fixture('struct'), { mode })).toMatchObject({ code: 'unsupported_type' })
  })

  it('links lists what leads out of the document, each once, with its text', async () => {
    const link = (rect: string, action: string) => `<</Type/Annot/Subtype/Link/Rect[${rect}]/A<<${action}>>>>`
    const objects = [
      link('94 696 132 712', '/S/URI/URI(https://site.example/a)'),
      link('72 676 200 692', '/S/URI/URI(mailto:ada@site.example)'),
      link('72 676 200 692', '/S/URI/URI(javascript:alert\\(1\\))'),
      link('72 676 200 692', '/S/GoTo/D[0 /Fit]'),
    ]
    const content = pdfStream(textAt('See our site for more') + textAt('Write to us', { y: 680 }))
    const page = { content, more: '/Annots[4 0 R 5 0 R 6 0 R 7 0 R 4 0 R]' }
    const result = await converted(pdfPages({ objects, pages: [page, page] }), { mode: 'links' })
    expect(result.json).toBe('document')
    expect(JSON.parse(result.content)).toEqual([
      { url: 'https://site.example/a', text: 'our site', rel: '', kind: 'external' },
      { url: 'mailto:ada@site.example', text: 'Write to us', rel: '', kind: 'mailto' },
    ])
  })

  it('links of a document without any is an empty list', async () => {
    expect(await contentOf(numbered(1), { mode: 'links' })).toBe('[]')
  })
})

describe('without text,', () => {
  it('scans are no_text_layer', async () => {
    expect(await failureOf(scannedPdf())).toMatchObject({ code: 'no_text_layer' })
  })

  it('letters drawn as lines are no_text_layer', async () => {
    const body = pdfPages({ pages: [{ content: pdfStream('100 100 m 200 200 l 300 100 l f') }] })
    expect(await failureOf(body)).toMatchObject({ code: 'no_text_layer' })
  })

  it('blank pages are empty', async () => {
    expect(await failureOf(pdfPages({ pages: [{ content: pdfStream('') }] }))).toEqual({
      code: 'empty',
      message: 'The pages hold no text.',
    })
  })

  it('a document of no pages is empty', async () => {
    expect(await failureOf(fixture('zero-pages'))).toEqual({ code: 'empty', message: 'The document has no pages.' })
  })
})

describe('a document that', () => {
  it('opens with a password only is password_protected', async () => {
    expect(await failureOf(fixture('enc-user256'))).toMatchObject({ code: 'password_protected' })
  })

  it('is no PDF but for its name is bad_document', async () => {
    expect(await failureOf(Buffer.from('%PDF-1.4 <html><body>Not found</body></html>'))).toMatchObject({
      code: 'bad_document',
    })
  })

  it('lost its table of objects is put together again, with a warning', async () => {
    const { warnings, meta } = await converted(fixture('bad-xref'))
    expect(warnings).toEqual(['The document is damaged; what could be found of it was put together again.'])
    expect(meta).toMatchObject({ pages_total: 3, title: 'Efficient Offices' })
  })

  it('lost its catalog, in a packed group, still gives its pages', async () => {
    const body = fixture('twocol-latex')
    const broken = Buffer.from(body.toString('latin1').replace('/Root 60 0 R', '/Root 99 0 R'), 'latin1')
    expect(wordRecall(truthOf('twocol-latex'), await contentOf(broken, { mode: 'text' }))).toBeGreaterThan(0.95)
  })

  it('has a circle in its tree of pages still gives its pages', async () => {
    expect(await contentOf(fixture('loop-pages'))).toContain('Hello bomb page')
  })

  it('was cut off gives what there is, with a warning', async () => {
    const whole = fixture('twocol-latex')
    const { content, warnings } = await converted(whole.subarray(0, whole.length - 20))
    expect(warnings).toEqual(['The document has no end mark; it may be cut off.'])
    expect(wordRecall(truthOf('twocol-latex'), content)).toBeGreaterThan(0.95)
  })

  it('was cut off before its pages is bad_document', async () => {
    const whole = fixture('twocol-latex')
    for (const share of [0.5, 0.9]) {
      expect(await failureOf(whole.subarray(0, whole.length * share))).toMatchObject({ code: 'bad_document' })
    }
  })

  it('was cut off after some of its pages gives these', async () => {
    const body = numbered(20)
    const { content } = await converted(body.subarray(0, body.length * 0.6))
    expect(content).toContain('This is page 1.')
    expect(pagesIn(content).length).toBeGreaterThan(5)
  })
})
