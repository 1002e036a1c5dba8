import { readFileSync } from 'node:fs'

import { array, assert, asyncProperty, constantFrom, integer, uint8Array } from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import { INFLATED_BYTES_MAX } from '../../../src/fetcher/convert/office/zip.ts'
import { createConverter } from '../../../src/fetcher/isolation/converter.ts'
import { docx, odf, pptx, xlsx } from '../../helpers/office-files.ts'
import { zipFile } from '../../helpers/zip-file.ts'

const SOURCE = { url: 'https://site.example/a', contentType: 'application/octet-stream', mode: 'auto' } as const
const run = (body: Uint8Array) => convert({ ...SOURCE, body })
const fixture = (name: string) => readFileSync(new URL(`../../fixtures/office/${name}`, import.meta.url))
const text = (content: string) => `<w:p><w:r><w:t>${content}</w:t></w:r></w:p>`
const TYPES = { '[Content_Types].xml': '' }

describe('bad_document, with a reason:', { timeout: 60_000 }, () => {
  it.each([
    [
      'a part that unpacks to too much and claims to be small',
      zipFile({ ...TYPES, 'word/document.xml': Buffer.alloc(INFLATED_BYTES_MAX + 1) }, { claimedBytes: 10 }),
      'unpacks to more than 100 MB',
    ],
    [
      'a part that says so',
      zipFile({ ...TYPES, 'word/document.xml': text('x') }, { claimedBytes: INFLATED_BYTES_MAX + 1 }),
      'unpacks to more than 100 MB',
    ],
    ['a main part that is missing', zipFile({ ...TYPES, 'word/other.xml': '' }), 'word/document.xml is missing'],
    ['a way to pack that is unknown', zipFile({ ...TYPES, 'word/document.xml': 'x' }, { method: 12 }), 'not supported'],
    ['an archive that was cut off', fixture('doc.docx').subarray(0, 3_000), 'damaged, or was cut off'],
    ['too many entries', manyEntries(20_001), 'damaged'],
  ])('%s', async (_what, body, reason) => {
    expect(await run(body)).toEqual({
      failure: { code: 'bad_document', message: expect.stringContaining(reason) as string },
    })
  })

  it('a text below more tables than can be kept', { timeout: 60_000 }, async () => {
    const levels = 20_000
    const body = docx(
      `${'<w:tbl><w:tr><w:tc>'.repeat(levels)}${text('deep')}${'</w:tc></w:tr></w:tbl>'.repeat(levels)}`,
    )
    expect(await run(body)).toMatchObject({ failure: { code: 'bad_document' } })
  })
})

function manyEntries(count: number): Buffer {
  return zipFile({
    ...TYPES,
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`word/${index}`, ''])),
  })
}

it('an archive with a password is password_protected', async () => {
  const body = zipFile({ ...TYPES, 'word/document.xml': 'x' }, { isEncrypted: true })
  expect(await run(body)).toMatchObject({ failure: { code: 'password_protected' } })
})

it('expands no entity of a document type, and reads no file', async () => {
  const entities = Array.from({ length: 9 }, (_, index) => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`)
  const type = `<!DOCTYPE d [<!ENTITY e0 "laugh">${entities.join('')}<!ENTITY file SYSTEM "file:///etc/passwd">]>`
  const document = `<?xml version="1.0"?>${type}<w:document><w:body>${text('a &e9; b &file; c &amp;')}</w:body></w:document>`
  const conversion = await run(docx('', { 'word/document.xml': document }))
  expect(conversion).toMatchObject({ content: expect.stringMatching(/^a \\?&e9; b \\?&file; c &$/) as string })
})

it('cuts what would grow without end, and says so', { timeout: 60_000 }, async () => {
  const string = 'x'.repeat(1_000_000)
  const cells = '<row><c t="s"><v>0</v></c></row>'.repeat(100)
  const shared = await run(xlsx(cells, { 'xl/sharedStrings.xml': `<sst><si><t>${string}</t></si></sst>` }))
  expect(shared).toMatchObject({ meta: { truncated: true }, warnings: [expect.stringContaining('rows was left out')] })
  const repeated = `<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="1024"><text:p>y</text:p></table:table-cell></table:table-row>`
  const sheet = `<office:body><office:spreadsheet><table:table table:name="S">${repeated}</table:table></office:spreadsheet></office:body>`
  expect(await run(odf('spreadsheet', sheet))).toMatchObject({ meta: { truncated: true } })
})

it('leaves out the end of a document that is too long to be stored, and says so', { timeout: 60_000 }, async () => {
  const body = docx(text('many words, one after the other, '.repeat(3_000)).repeat(150))
  expect(await run(body)).toMatchObject({ meta: { truncated: true }, warnings: [expect.stringContaining('too long')] })
})

/** Names that objects of JavaScript have, in the place of names of formats. */
it('takes no name for more than a name', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
  const elements = names.map((name) => `<w:${name} w:val="${name}">x</w:${name}>`).join('')
  expect(await run(docx(elements + text('fine')))).toMatchObject({ content: 'fine' })
  const cells = names.map((name) => `<c t="${name}" s="${name}"><v>${name}</v></c>`).join('')
  expect(await run(xlsx(`<row>${cells}</row>`))).toMatchObject({
    content: expect.stringContaining('toString') as string,
  })
  const controls = names.map((name) => `\\${name.replaceAll('_', '')} `).join('')
  expect(await run(Buffer.from(`{\\rtf1 ${controls}fine}`))).toMatchObject({ content: 'fine' })
})

it('never throws on documents that are damaged', { timeout: 60_000 }, async () => {
  const files = [
    'doc.docx',
    'doc.odt',
    'doc.epub',
    'doc.rtf',
    'sheet.xlsx',
    'sheet.ods',
    'slides.pptx',
    'slides.odp',
    'doc.doc',
  ]
  const bodies = files.map(fixture)
  await assert(
    asyncProperty(
      constantFrom(...bodies),
      integer({ min: 0, max: 1_000_000 }),
      uint8Array({ minLength: 1, maxLength: 8 }),
      async (body, at, bytes) => {
        const damaged = Buffer.from(body)
        damaged.set(bytes, at % (body.length - bytes.length))
        await expect(run(damaged)).resolves.toBeDefined()
      },
    ),
    { numRuns: 300 },
  )
})

it('never throws on parts that are no sound XML', { timeout: 60_000 }, async () => {
  const piece = constantFrom(
    ...'<w:p> </w:p> <w:tbl> </w:tbl> <w:tr> <w:tc> </w:tc> </w:tr> <w:r> <w:t>x </w:t> <w:txbxContent> <w:footnote> <w:fldChar/>'.split(
      ' ',
    ),
    ...'<a:tbl> </a:tbl> <a:tc> </a:tc> <table:table-cell> </table:table-cell> <text:list> <text:note> </text:note> <text:p> </text:p>'.split(
      ' ',
    ),
    ...'<c> </c> <row> </row> <v>1 </v> <!-- <![CDATA[ ]]> &amp; & < <b <b/> " \' ='.split(' '),
  )
  await assert(
    asyncProperty(array(piece, { maxLength: 40 }), async (parts) => {
      const xml = parts.join('')
      const bodies = [
        docx(xml),
        xlsx(xml),
        pptx([`<p:sp>${xml}</p:sp>`]),
        odf('text', `<office:body>${xml}</office:body>`),
        odf('spreadsheet', `<office:body><office:spreadsheet>${xml}`),
        odf('presentation', `<office:body><draw:page>${xml}`),
      ]
      for (const body of bodies) await expect(run(body)).resolves.toBeDefined()
    }),
    { numRuns: 100 },
  )
})

describe('in a child process', { timeout: 120_000 }, () => {
  const converter = createConverter({ timeMsMax: 60_000 })
  afterAll(() => converter.close())
  const inChild = (body: Uint8Array) => converter.convert({ ...SOURCE, body }, new AbortController().signal)

  it.each([
    [
      'a bomb',
      () => zipFile({ ...TYPES, 'word/document.xml': Buffer.alloc(2 ** 28) }, { claimedBytes: 10 }),
      'bad_document',
    ],
    ['a million empty paragraphs', () => docx('<w:p/>'.repeat(1_000_000)), 'empty'],
    ['a million open groups', () => Buffer.from(`{\\rtf1 ${'{'.repeat(1_000_000)}`), 'empty'],
    ['a megabyte of quotes in a tag', () => docx(`<w:p ${`a="`.repeat(300_000)}`), 'empty'],
    ['a megabyte of a name', () => docx(`<w:p ${'a'.repeat(1_000_000)}>`), 'empty'],
    [
      'text in 100,000 fields',
      () => docx(`<w:p><w:r>${'<w:fldChar w:fldCharType="begin"/><w:t>x</w:t>'.repeat(100_000)}`),
      undefined,
    ],
  ])('%s ends, and the next document is converted', async (_what, build, code) => {
    const hostile = await inChild(build())
    expect('failure' in hostile ? hostile.failure.code : undefined).toBe(code)
    expect(await inChild(fixture('sheet.xlsx'))).toMatchObject({ content: expect.stringContaining('日本語') as string })
  })
})
