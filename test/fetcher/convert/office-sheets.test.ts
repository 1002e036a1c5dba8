import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { Conversion } from '../../../src/fetcher/convert/document.ts'
import { formatOf } from '../../../src/fetcher/convert/office/xlsx-formats.ts'
import { numberText } from '../../../src/fetcher/convert/office/xlsx-numbers.ts'
import type { Mode } from '../../../src/jobs/schema.ts'
import { odf, relationships, xlsx } from '../../helpers/office-files.ts'

const run = (body: Uint8Array, mode: Mode = 'auto'): Promise<Conversion> =>
  convert({ body, url: 'https://site.example/files/a', contentType: undefined, mode })

async function contentOf(body: Uint8Array, mode?: Mode): Promise<string> {
  const conversion = await run(body, mode)
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion.content
}
const fixture = (name: string) => readFileSync(new URL(`../../fixtures/office/${name}`, import.meta.url))

describe.each(['sheet.xlsx', 'sheet.ods'])('%s', (name) => {
  it('is a table under the name of the sheet', async () => {
    expect(await contentOf(fixture(name))).toBe(
      '## sheet\n\n| name | qty | note |\n| --- | --- | --- |\n| Smith, J | 3 | said "hi" |\n| Åse | 4 | multi |\n| Zoë | 5 | 日本語 |',
    )
  })

  it('is text and HTML on demand', async () => {
    expect(await contentOf(fixture(name), 'text')).toBe(
      'sheet\n\nname\tqty\tnote\nSmith, J\t3\tsaid "hi"\nÅse\t4\tmulti\nZoë\t5\t日本語',
    )
    expect(await contentOf(fixture(name), 'html')).toContain('<tr><td>Zoë</td><td>5</td><td>日本語</td></tr>')
  })
})

describe('an Excel workbook', () => {
  const styles = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd hh:mm"/></numFmts>
    <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
    <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="10"/></cellXfs></styleSheet>`

  it('shows what its cells show: dates, percentages, texts, truth and errors', async () => {
    const strings =
      '<sst><si><t>shared</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>reading</t></rPh></si></sst>'
    const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>in | line</t></is></c></row>
      <row r="2"><c r="A2" s="1"><v>45356</v></c><c r="B2" s="2"><v>45356.25</v></c><c r="C2" s="3"><v>0.125</v></c></row>
      <row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" t="e"><v>#DIV/0!</v></c><c r="C3" t="str"><f>A1&amp;"x"</f><v>a&lt;b</v></c></row>
      <row r="4"><c r="A4"><v>0.30000000000000004</v></c><c r="B4"><v>675127116845989888</v></c><c r="C4"><v>1E-3</v></c></row>`
    const body = xlsx(rows, { 'xl/styles.xml': styles, 'xl/sharedStrings.xml': strings })
    expect(await contentOf(body)).toBe(
      [
        '## Data\n',
        '| shared | rich text | in \\| line |',
        '| --- | --- | --- |',
        '| 2024-03-05 | 2024-03-05 06:00:00 | 12.5% |',
        '| TRUE | #DIV/0! | a\\<b |',
        '| 0.3 | 675127116845989888 | 1E-3 |',
      ].join('\n'),
    )
  })

  it('costs no more for cells that are far apart', async () => {
    const rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    expect(await contentOf(xlsx(rows))).toBe('## Data\n\n| 1 |  |\n| --- | --- |\n|  | 2 |')
  })

  it('links its cells', async () => {
    const rows = '<row r="1"><c r="A1" t="str"><v>a [site]</v></c></row>'
    const behind = '<hyperlinks><hyperlink ref="A1" r:id="rId3"/></hyperlinks>'
    const parts = {
      'xl/worksheets/_rels/sheet1.xml.rels': relationships(['rId3', 'hyperlink', 'https://a.example/x y']),
    }
    const body = xlsx(rows, parts, behind)
    expect(await contentOf(body)).toContain('| [a \\[site\\]](https://a.example/x%20y) |')
    expect(JSON.parse(await contentOf(body, 'links'))).toEqual([
      { url: 'https://a.example/x%20y', text: 'a [site]', rel: '', kind: 'external' },
    ])
  })

  it('is read under any prefix', async () => {
    const workbook = '<x:workbook><x:sheets><x:sheet name="Own" sheetId="1" rel:id="rId1"/></x:sheets></x:workbook>'
    const sheet = '<x:worksheet><x:sheetData><x:row><x:c><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    const body = xlsx('', { 'xl/workbook.xml': workbook, 'xl/worksheets/sheet1.xml': sheet })
    expect(await contentOf(body)).toBe('## Own\n\n| 7 |\n| --- |')
  })

  it('without any text is empty', async () => {
    expect(await run(xlsx('<row r="1"><c r="A1"/></row>'))).toMatchObject({ failure: { code: 'empty' } })
  })

  it.each([
    ['1', '1900-01-01'],
    ['59', '1900-02-28'],
    ['61', '1900-03-01'],
    ['2958465', '9999-12-31'],
  ])('has %s for a date', (serial, date) => expect(numberText(serial, 'date', false)).toBe(date))

  it('counts days in both systems, and leaves alone what is no date', () => {
    expect(numberText('0', 'date', true)).toBe('1904-01-01')
    expect(numberText('1.5', 'duration', false)).toBe('36:00:00')
    expect(numberText('0.999999', 'time', false)).toBe('00:00:00')
    expect(numberText('-3', 'date', false)).toBe('-3')
    expect(numberText('99999999', 'date', false)).toBe('99999999')
    expect(numberText('n/a', 'date', false)).toBe('n/a')
  })

  it.each([
    ['General', undefined],
    ['#,##0.00\\ "USD"', undefined],
    ['[Red]0.00;[Blue]-0.00', undefined],
    ['_-* #,##0\\ _d_-', undefined],
    ['"day" 0', undefined],
    ['0.0%', 'percent'],
    ['d mmm yyyy', 'date'],
    ['mmm', 'date'],
    ['[$-409]h:mm AM/PM', 'time'],
    ['[h]:mm:ss', 'duration'],
    ['dd.mm.yy hh:mm', 'date-time'],
  ])('reads the format %j', (code, format) => expect(formatOf(code)).toBe(format))
})

describe('an OpenDocument spreadsheet', () => {
  const ods = (rows: string) =>
    odf(
      'spreadsheet',
      `<office:body><office:spreadsheet><table:table table:name="S">${rows}</table:table></office:spreadsheet></office:body>`,
    )
  const cell = (text: string, attributes = '') =>
    `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`
  const row = (cells: string, attributes = '') => `<table:table-row ${attributes}>${cells}</table:table-row>`

  it('repeats what is repeated, and not what is empty', async () => {
    const rows =
      row(cell('a') + '<table:table-cell table:number-columns-repeated="16000"/>' + cell('b')) +
      row(cell('x', 'table:number-columns-repeated="2"'), 'table:number-rows-repeated="2"') +
      row('<table:table-cell/>', 'table:number-rows-repeated="1048000"')
    expect(await contentOf(ods(rows))).toBe('## S\n\n| a |  | b |\n| --- | --- | --- |\n| x | x |\n| x | x |')
  })

  it('shows dates as ISO 8601, other values as they are shown, and no comments', async () => {
    const rows = row(
      cell('5. März', 'office:value-type="date" office:date-value="2024-03-05"') +
        cell('12,50 €', 'office:value-type="currency" office:value="12.5"') +
        '<table:table-cell><office:annotation><text:p>remark</text:p></office:annotation><text:p>two</text:p><text:p>lines</text:p></table:table-cell>',
    )
    expect(await contentOf(ods(rows))).toContain('| 2024-03-05 | 12,50 € | two<br>lines |')
  })
})
