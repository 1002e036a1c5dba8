import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { Conversion } from '../../../src/fetcher/convert/document.ts'
import type { Mode } from '../../../src/jobs/schema.ts'
import { docx, odf, pptx, relationships } from '../../helpers/office-files.ts'
import { zipFile } from '../../helpers/zip-file.ts'

const run = (body: Uint8Array, mode: Mode = 'auto'): Promise<Conversion> =>
  convert({ body, url: 'https://site.example/files/a', contentType: 'application/octet-stream', mode })

async function contentOf(body: Uint8Array, mode?: Mode): Promise<string> {
  const conversion = await run(body, mode)
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion.content
}
const fixture = (name: string) => readFileSync(new URL(`../../fixtures/office/${name}`, import.meta.url))

const REPORT = `# Annual report

The first paragraph has **bold marker**, *italic marker* and a [link marker](https://example.com/x).

## Numbers

| Name | Value |
| --- | --- |
| alpha cell | 12.50 |
| beta \\| pipe | 7 |

## Lists

- apple item
  - nested pear
- orange item

1. step one
2. step two

中文段落 and Zażółć and مرحبا.

Last sentence of document.`

describe('the same report', () => {
  it.each(['doc.docx', 'doc.odt'])('%s', async (name) => {
    for (const mode of ['auto', 'full', 'article'] as const) expect(await contentOf(fixture(name), mode)).toBe(REPORT)
  })

  it('doc.rtf, whose table has a bold head', async () => {
    expect(await contentOf(fixture('doc.rtf'))).toBe(REPORT.replace('Name | Value', '**Name** | **Value**'))
  })

  it('doc.epub, whose headings and lists are plain paragraphs', async () => {
    const content = await contentOf(fixture('doc.epub'))
    const plain = REPORT.replaceAll(/^ *(?:#+|-|\d\.) /gm, '').replaceAll(/\*/g, '')
    expect(content.replaceAll(/\n+/g, '\n')).toBe(plain.replaceAll(/\n+/g, '\n'))
  })

  it.each(['doc.docx', 'doc.odt', 'doc.rtf', 'doc.epub'])('%s as text, HTML, links and metadata', async (name) => {
    const text = await contentOf(fixture(name), 'text')
    expect(text).toMatch(/^Annual report\n/)
    expect(text).toContain('bold marker, italic marker and a link marker.')
    expect(text).not.toMatch(/\*|\]\(|^#/m)
    const html = await contentOf(fixture(name), 'html')
    expect(html).toContain('<a href="https://example.com/x">')
    expect(html).toContain('beta | pipe')
    expect(html).not.toMatch(/<(?:script|style|link)/)
    const links = await run(fixture(name), 'links')
    expect(links).toMatchObject({ json: 'document' })
    expect(JSON.parse(await contentOf(fixture(name), 'links'))).toEqual([
      { url: 'https://example.com/x', text: 'link marker', rel: '', kind: 'external' },
    ])
    expect(JSON.parse(await contentOf(fixture(name), 'metadata'))).toMatchObject({ title: 'Office sample' })
  })

  it('has no source to give', async () => {
    for (const name of ['doc.docx', 'doc.rtf', 'slides.odp', 'sheet.xlsx']) {
      expect(await run(fixture(name), 'raw')).toMatchObject({ failure: { code: 'unsupported_type' } })
    }
  })
})

const run1 = (text: string, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`
const paragraph = (content: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`

describe('a Word document', () => {
  it('gives its text without what was deleted, moved away or hidden, or is there twice', async () => {
    const body = paragraph(
      `<w:del>${run1('deleted')}</w:del><w:ins>${run1('inserted')}</w:ins><w:moveFrom>${run1('moved')}</w:moveFrom>
       ${run1('hidden', '<w:vanish/>')}
       <mc:AlternateContent><mc:Choice>${run1(' once')}</mc:Choice><mc:Fallback>${run1('twice')}</mc:Fallback></mc:AlternateContent>`,
    )
    expect(await contentOf(docx(body))).toBe('inserted once')
  })

  it('joins runs that look the same, and keeps blanks out of the marks', async () => {
    const body = paragraph(run1('bo', '<w:b/>') + run1('ld ', '<w:b w:val="1"/>') + run1('not', '<w:b w:val="0"/>'))
    expect(await contentOf(docx(body))).toBe('**bold** not')
  })

  it('knows headings and titles by style, by the style it is based on, and by outline level', async () => {
    const styles = `<w:styles><w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
      <w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 2"/></w:style>
      <w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Chapter"/><w:basedOn w:val="H"/></w:style>
      <w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>
      <w:style w:type="character" w:styleId="S"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style></w:styles>`
    const body = [
      paragraph(run1('The title', '<w:b/>'), '<w:pStyle w:val="T"/>'),
      paragraph(run1('Based'), '<w:pStyle w:val="Own"/>'),
      paragraph(run1('Outlined'), '<w:outlineLvl w:val="2"/>'),
      paragraph(run1('Body', '<w:rStyle w:val="S"/>'), '<w:pStyle w:val="Loop"/><w:outlineLvl w:val="9"/>'),
    ].join('')
    const conversion = await run(docx(body, { 'word/styles.xml': styles }))
    expect(conversion).toMatchObject({
      content: '# The title\n\n## Based\n\n### Outlined\n\n**Body**',
      meta: { title: 'The title' },
    })
  })

  it('numbers lists on after a paragraph between their items', async () => {
    const numbering = `<w:numbering><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>
      <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>`
    const item = (text: string, level = 0) =>
      paragraph(run1(text), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="7"/></w:numPr>`)
    const body = item('three') + item('inner', 1) + item('four') + paragraph(run1('Between')) + item('five')
    expect(await contentOf(docx(body, { 'word/numbering.xml': numbering }))).toBe(
      '3. three\n   - inner\n4. four\n\nBetween\n\n5. five',
    )
  })

  it('gives links of relationships and of fields, but none into the document itself', async () => {
    const field = (instruction: string, text: string) =>
      `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${instruction}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run1(text)}<w:r><w:fldChar w:fldCharType="end"/></w:r>`
    const body = paragraph(
      `<w:hyperlink r:id="rId5">${run1('rel')}</w:hyperlink> ${run1(', ')}${field(' HYPERLINK "https://b.example/?a=1&amp;b=2" ', 'field')}${run1(', ')}<w:hyperlink w:anchor="top">${run1('inner')}</w:hyperlink>${run1(', ')}${field(' PAGE ', '7')}`,
    )
    const parts = {
      'word/_rels/document.xml.rels': relationships(['rId5', 'hyperlink', 'https://a.example/x']),
    }
    expect(await contentOf(docx(body, parts))).toBe(
      '[rel](https://a.example/x), [field](https://b.example/?a=1&b=2), inner, 7',
    )
  })

  it('puts notes behind the text, numbered as the text refers to them', async () => {
    const notes = `<w:footnotes><w:footnote w:id="-1"><w:p>${run1('separator')}</w:p></w:footnote>
      <w:footnote w:id="4"><w:p>${run1('Second note.')}</w:p></w:footnote><w:footnote w:id="2"><w:p>${run1('First note.')}</w:p></w:footnote></w:footnotes>`
    const mark = (id: number) => `<w:r><w:footnoteReference w:id="${id}"/></w:r>`
    const body = paragraph(run1('One') + mark(2) + run1(' two') + mark(4) + run1('.'))
    const content = await contentOf(docx(body, { 'word/footnotes.xml': notes }))
    expect(content).toMatch(/^One\[\^1\] two\[\^2\]\.\n\n/)
    expect(content).toContain('[^1]: First note.')
    expect(content).toContain('[^2]: Second note.')
    expect(content).not.toContain('separator')
  })

  it('keeps cells apart, spans in line, and the text of boxes', async () => {
    const cell = (text: string, properties = '') =>
      `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(run1(text))}</w:tc>`
    const table = `<w:tbl><w:tr>${cell('a')}${cell('b')}${cell('c')}</w:tr><w:tr>${cell('wide', '<w:gridSpan w:val="2"/>')}${cell('x|y')}</w:tr></w:tbl>`
    const box = paragraph(
      `<w:r><w:drawing><w:txbxContent>${paragraph(run1('In the box'))}</w:txbxContent></w:drawing></w:r>${run1('Around it')}`,
    )
    expect(await contentOf(docx(table + box))).toBe(
      '| a | b | c |\n| --- | --- | --- |\n| wide |  | x\\|y |\n\nIn the box\n\nAround it',
    )
  })

  it('tells what its properties say', async () => {
    const core = `<cp:coreProperties><dc:title>Plan &amp; price</dc:title><dc:creator>Ada Marsh</dc:creator><dc:language>en-GB</dc:language>
      <dcterms:created>2024-03-05T08:00:00Z</dcterms:created><dcterms:modified>2024-04-01T09:30:00Z</dcterms:modified></cp:coreProperties>`
    const body = docx(paragraph(run1('x')), { 'docProps/core.xml': core })
    const told = {
      title: 'Plan & price',
      byline: 'Ada Marsh',
      language: 'en-GB',
      published: '2024-03-05T08:00:00Z',
      modified: '2024-04-01T09:30:00Z',
    }
    expect(await run(body)).toMatchObject({ meta: told })
    expect(JSON.parse(await contentOf(body, 'metadata'))).toEqual(told)
  })

  it('reads the main part under any name, and its elements under any prefix', async () => {
    const body = zipFile({
      '[Content_Types].xml': '<Types/>',
      '_rels/.rels': relationships(['rId1', 'officeDocument', '/word/main2.xml']),
      'word/main2.xml': '<d:document><d:body><d:p><d:r><d:t>other names</d:t></d:r></d:p></d:body></d:document>',
    })
    expect(await contentOf(body)).toBe('other names')
  })
})

describe('an OpenDocument text', () => {
  it('leaves comments and old versions out, puts notes behind the text, keeps formats of styles', async () => {
    const content = `<office:automatic-styles><style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
      <style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/></office:automatic-styles>
      <office:body><office:text><text:tracked-changes><text:p>old</text:p></text:tracked-changes>
      <text:p text:style-name="P1">Top</text:p>
      <text:p>Some<text:s text:c="1000000000"/><text:span text:style-name="T1">bold</text:span><office:annotation><text:p>remark</text:p></office:annotation><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>The note.</text:p></text:note-body></text:note> end<text:line-break/>line</text:p>
      <text:list><text:list-item><text:p>item</text:p><text:p>more of it</text:p></text:list-item></text:list></office:text></office:body>`
    const styles =
      '<office:document-styles><style:style style:name="Title" style:family="paragraph"/></office:document-styles>'
    const text = await contentOf(odf('text', content, { 'styles.xml': styles }))
    expect(text).toMatch(/^# Top\n\nSome \*\*bold\*\*\[\^1\] end {2}\nline\n\n- item\n\n? +more of it/)
    expect(text).toMatch(/\n\[\^1\]: The note\.$/)
  })

  it('with a password is password_protected', async () => {
    const manifest =
      '<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>'
    const body = odf('text', '', { 'META-INF/manifest.xml': manifest })
    expect(await run(body)).toMatchObject({ failure: { code: 'password_protected' } })
  })
})

const shape = (type: string | undefined, ...paragraphs: readonly string[]) =>
  `<p:sp><p:nvSpPr><p:nvPr>${type === undefined ? '' : `<p:ph ${type === '' ? 'idx="1"' : `type="${type}"`}/>`}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs.join('')}</p:txBody></p:sp>`
const line = (text: string, properties = '<a:pPr/>') =>
  `<a:p>${properties}<a:r><a:rPr lang="en"/><a:t>${text}</a:t></a:r></a:p>`

describe('a presentation', () => {
  it.each(['slides.pptx', 'slides.odp'])('%s comes slide by slide', async (name) => {
    const slide = (number: number) =>
      `<!-- page ${number} -->\n\nSlide title ${number}\n\nBody text of slide ${number}\n\nSecond point ${number}`
    const kept: string[] = []
    const conversion = await convert(
      { body: fixture(name), url: 'https://site.example/', contentType: undefined, mode: 'auto' },
      ({ text }) => void kept.push(text),
    )
    expect(conversion).toMatchObject({
      content: [1, 2, 3].map(slide).join('\n\n'),
      meta: { pages_total: 3, pages_done: 3 },
    })
    expect(kept).toHaveLength(3)
    const picked = await convert({
      body: fixture(name),
      url: 'https://site.example/',
      contentType: undefined,
      mode: 'auto',
      pages: [{ last: 1 }],
    })
    expect(picked).toMatchObject({ content: slide(3), meta: { pages_total: 3, pages_done: 1 } })
  })

  it('has titles first, bullets where the layout has them, notes last, and nothing of its master', async () => {
    const slide = [
      shape('', line('first point'), line('below it', '<a:pPr lvl="1"/>'), line('plain', '<a:pPr><a:buNone/></a:pPr>')),
      shape(undefined, line('A box')),
      shape('sldNum', line('17')),
      shape('ftr', line('Confidential')),
      shape('title', line('The point')),
    ].join('')
    const notes = `<p:notes>${shape('sldImg', line('picture'))}${shape('body', line('Say hello.'))}</p:notes>`
    const body = pptx([slide], {
      'ppt/slides/_rels/slide1.xml.rels': relationships(['rId1', 'notesSlide', '../notesSlides/n1.xml']),
      'ppt/notesSlides/n1.xml': notes,
    })
    expect(await run(body)).toMatchObject({
      content: '<!-- page 1 -->\n\n## The point\n\n- first point\n  - below it\n\nplain\n\nA box\n\n> Say hello.',
      meta: { title: 'The point' },
    })
  })

  it('keeps tables and links', async () => {
    const cell = (text: string) => `<a:tc><a:txBody>${line(text)}</a:txBody></a:tc>`
    const table = `<p:graphicFrame><a:tbl><a:tr>${cell('a')}${cell('b')}</a:tr><a:tr>${cell('1')}${cell('2')}</a:tr></a:tbl></p:graphicFrame>`
    const link = shape(
      undefined,
      '<a:p><a:r><a:rPr b="1"><a:hlinkClick r:id="rId9"/></a:rPr><a:t>site</a:t></a:r></a:p>',
    )
    const body = pptx([table + link], {
      'ppt/slides/_rels/slide1.xml.rels': relationships(['rId9', 'hyperlink', 'https://a.example/']),
    })
    expect(await contentOf(body)).toBe(
      '<!-- page 1 -->\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n[**site**](https://a.example/)',
    )
    expect(JSON.parse(await contentOf(body, 'links'))).toEqual([
      { url: 'https://a.example/', text: 'site', rel: '', kind: 'external' },
    ])
  })
})

describe('an EPUB book', () => {
  const book = (chapters: Readonly<Record<string, string>>, parts: Readonly<Record<string, string>> = {}) => {
    const names = Object.keys(chapters)
    const items = names.map(
      (name, index) => `<item id="c${index}" href="text/${name}" media-type="application/xhtml+xml"/>`,
    )
    const order = names.map((_, index) => `<itemref idref="c${index}"/>`)
    return zipFile({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="O/book.opf"/></rootfiles></container>',
      'O/book.opf': `<package><metadata><dc:title>Sea</dc:title><dc:creator>Ada</dc:creator><dc:language>en</dc:language></metadata>
        <manifest>${items.join('')}<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/></manifest><spine><itemref idref="nav"/>${order.join('')}</spine></package>`,
      'O/nav.xhtml': '<html><body>Contents</body></html>',
      ...Object.fromEntries(Object.entries(chapters).map(([name, html]) => [`O/text/${decodeURI(name)}`, html])),
      ...parts,
    })
  }

  it('comes chapter by chapter in the order of reading, without links into itself', async () => {
    const chapters = {
      'a%20one.xhtml':
        '<?xml version="1.0"?><html><head><title/></head><body><h1>One</h1><p>See <a href="b.xhtml#x">the next</a>, <a href="https://a.example/">site</a><a epub:type="noteref" href="#n1">1</a>.</p><aside id="n1" epub:type="footnote"><p id="n1">The note.</p></aside><img src="x.png"/></body></html>',
      'b.xhtml': '<html><body><h1>Two</h1><p>End.</p></body></html>',
    }
    const conversion = await run(book(chapters))
    expect(conversion).toMatchObject({ meta: { title: 'Sea', byline: 'Ada', language: 'en' } })
    const content = await contentOf(book(chapters))
    expect(content).toMatch(/^# One\n\nSee the next, \[site\]\(https:\/\/a\.example\/\)\[\^1\]\./)
    expect(content).toContain('[^1]: The note.')
    expect(content).toMatch(/# Two\n\nEnd\.$/)
    expect(content).not.toContain('Contents')
  })

  it('that only a shop can open is password_protected; veiled fonts do no harm', async () => {
    const encryption = (algorithm: string) => ({
      'META-INF/encryption.xml': `<encryption><EncryptedData><EncryptionMethod Algorithm="${algorithm}"/></EncryptedData></encryption>`,
    })
    const chapters = { 'a.xhtml': '<html><body><p>Text</p></body></html>' }
    const locked = book(chapters, encryption('http://www.w3.org/2001/04/xmlenc#aes128-cbc'))
    expect(await run(locked)).toMatchObject({ failure: { code: 'password_protected' } })
    expect(await contentOf(book(chapters, encryption('http://www.idpf.org/2008/embedding')))).toBe('Text')
  })
})

describe('an RTF document', () => {
  const rtf = (content: string) => Buffer.from(`{\\rtf1\\ansi\\ansicpg1252${content}}`, 'latin1')

  it.each([
    ['Unicode and what stands for it', "a\\u8364\\'80b\\u-10179?\\u-8704?c{\\uc0\\u233 d}", 'a€b😀céd'],
    ['bytes of the code page', "caf\\'e9 \\emdash\\~x", 'café —\u00A0x'],
    [
      'bytes of a font',
      "{\\fonttbl{\\f1\\fcharset204 A;}{\\f2\\fcharset134 B;}}{\\f1\\'cf\\'f0}{\\f2\\'d6\\'d0}",
      'Пр中',
    ],
    ['formats', 'a {\\b bold}{\\i\\b0  it}\\strike  s\\strike0 .', 'a **bold** *it* ~~s~~.'],
    ['text that is hidden or deleted', 'a{\\v hidden}{\\deleted gone}b', 'ab'],
    ['escapes', '\\{a\\}\\\\', '{a}\\\\'],
    [
      'headers, pictures and unknown groups',
      '{\\header h}{\\pict 00ff}{\\*\\unknown u}{\\*\\shppict{\\pict 00}}text',
      'text',
    ],
    ['raw data', 'a{\\pict\\bin5 }}}}}}b', 'ab'],
    ['paragraphs', 'a\\par b\\line c\\par', 'a\n\nb  \nc'],
    ['a list without a table of lists', '{\\pntext 1.\\tab}one\\par{\\pntext 2.\\tab}two\\par', '1. one\n2. two'],
    [
      'a table',
      '\\trowd\\intbl a\\cell b\\cell\\row\\intbl c\\cell d\\cell\\row\\pard after',
      '| a | b |\n| --- | --- |\n| c | d |\n\nafter',
    ],
    ['a note', 'text{\\footnote\\chftn  The note.} end', 'text[^1] end\n\n[^1]: The note.'],
    ['a heading by style', '{\\stylesheet{\\s3 heading 2;}}\\pard\\s3 Head\\par\\pard body', '## Head\n\nbody'],
  ])('reads %s', async (_what, source, expected) => expect(await contentOf(rtf(source))).toBe(expected))

  it('tells what it says about itself', async () => {
    const info = "{\\info{\\title T\\'e9l}{\\author Ada}{\\creatim\\yr2024\\mo3\\dy5\\hr8\\min1}}x"
    expect(await run(rtf(info))).toMatchObject({
      content: 'x',
      meta: { content_type: 'application/rtf', title: 'Tél', byline: 'Ada', published: '2024-03-05T08:01:00' },
    })
  })
})
