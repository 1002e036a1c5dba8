import { readFileSync } from 'node:fs'

import { array, assert, constantFrom, property, string } from 'fast-check'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import { delimiterOf, readCsv } from '../../../src/fetcher/convert/data/csv.ts'
import { TABLE_LENGTH_MAX } from '../../../src/fetcher/convert/data/table-writer.ts'
import type { Conversion } from '../../../src/fetcher/convert/document.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

const run = (body: string | Uint8Array, contentType: string, mode: Mode = 'auto'): Promise<Conversion> =>
  convert({ body: Buffer.from(body), url: 'https://site.example/data', contentType, mode })

async function contentOf(...args: Parameters<typeof run>): Promise<string> {
  const conversion = await run(...args)
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion.content
}

/** The texts of the cells that a reader of Markdown sees. */
function cellsOf(markdown: string): string[][] {
  const [table] = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }).children
  if (table?.type !== 'table') throw new Error(`No table: ${markdown}`)
  return table.children.map((row) =>
    row.children.map((cell) =>
      cell.children.map((node) => ('value' in node ? (node.value === '<br>' ? '\n' : node.value) : '')).join(''),
    ),
  )
}

describe('comma-separated values', () => {
  it('are a table', async () => {
    const body = readFileSync(new URL('../../fixtures/office/sheet.csv', import.meta.url))
    expect(await contentOf(body, 'text/csv; charset=utf-8')).toBe(
      '| name | qty | note |\n| --- | --- | --- |\n| Smith, J | 3 | said "hi" |\n| Åse | 4 | multi |\n| Zoë | 5 | 日本語 |',
    )
  })

  it('are as they were sent in the modes text and raw, and a table of HTML in mode html', async () => {
    const body = 'a,b\r\n<1>,"2\n3"\r\n'
    for (const mode of ['text', 'raw'] as const) expect(await contentOf(body, 'text/csv', mode)).toBe(body)
    expect(await contentOf(body, 'text/csv', 'html')).toBe(
      '<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>&lt;1&gt;</td><td>2<br>3</td></tr>\n</table>',
    )
  })

  it.each([
    [
      'with semicolons',
      'a;b\n1,5;2,5\n3;4',
      [
        ['a', 'b'],
        ['1,5', '2,5'],
        ['3', '4'],
      ],
    ],
    [
      'with tabs',
      'a\tb\n1, 2\t3',
      [
        ['a', 'b'],
        ['1, 2', '3'],
      ],
    ],
    [
      'with pipes',
      'a|b\n1|2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'with a byte order mark',
      '\uFEFF"a",b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'that tell their delimiter',
      'sep=;\r\na,1;b\r\nc;d',
      [
        ['a,1', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'with line breaks and quotes in quotes',
      'a,b\r\n"x ""y""\r\nz",2\r\n',
      [
        ['a', 'b'],
        ['x "y"\nz', '2'],
      ],
    ],
    [
      'with a quote that is never closed',
      'a,b\n"open,1\nc,2',
      [
        ['a', 'b'],
        ['"open', '1'],
        ['c', '2'],
      ],
    ],
    ['with rows of different lengths', 'a\n1,2,3\n4', [['a', '', ''], ['1', '2', '3'], ['4']]],
    [
      'with blank lines',
      'a,b\n\n1,2\n\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'with marks of Markdown',
      'a,b\n|x|,C:\\\n<b>,\\|',
      [
        ['a', 'b'],
        ['|x|', 'C:\\'],
        ['<b>', '\\|'],
      ],
    ],
  ])('%s', async (_what, body, cells) => expect(cellsOf(await contentOf(body, 'text/csv'))).toEqual(cells))

  it('in a legacy encoding', async () => {
    const body = Buffer.from('name;café\nÅse;é', 'latin1')
    expect(cellsOf(await contentOf(body, 'text/csv; charset=iso-8859-1'))).toEqual([
      ['name', 'café'],
      ['Åse', 'é'],
    ])
  })

  it('are left as they are under a header that does not say so', async () => {
    expect(await contentOf('a,b\n1,2', 'text/plain')).toBe('a,b\n1,2')
  })

  it('without a row are empty', async () => {
    expect(await run('\n,\n'.replace(',', ''), 'text/csv')).toMatchObject({ failure: { code: 'empty' } })
  })

  it('are cut where the table gets too long, and say so', { timeout: 60_000 }, async () => {
    const body = `a,b\n${'x,y\n'.repeat(TABLE_LENGTH_MAX / 8)}`
    const conversion = await run(body, 'text/csv')
    expect(conversion).toMatchObject({ meta: { truncated: true }, warnings: [expect.stringContaining('left out')] })
    expect((await contentOf(body, 'text/csv')).length).toBeLessThanOrEqual(TABLE_LENGTH_MAX + 100)
  })

  it('give back every cell that was written with quotes', () => {
    const cell = string({ unit: constantFrom('a', '"', ',', ';', '\n', '\r', '|', '\\', ' ', '<') })
    assert(
      property(
        array(array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 }),
        constantFrom(',', ';', '\t'),
        (rows, delimiter) => {
          const quoted = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter))
          const read: string[][] = []
          readCsv(quoted.join('\r\n'), delimiter, (cells) => read.push([...cells]) > 0)
          expect(read).toEqual(rows)
        },
      ),
    )
  })

  it('have one delimiter, whatever is looked at', () => {
    expect(delimiterOf('')).toBe(',')
    expect(delimiterOf('one column\nof words, with commas\nin some lines')).toBe(',')
    expect(delimiterOf('a, b; c\nd; e\nf; g')).toBe(';')
  })
})

describe('JSON', () => {
  it('keeps its digits, order and blanks, and is marked as JSON', async () => {
    const body = '{"id":675127116845989888, "b": 1.0}'
    for (const header of ['application/json', 'text/plain', 'text/html']) {
      for (const mode of ['auto', 'text', 'raw'] as const) {
        expect(await run(body, header, mode)).toMatchObject({ content: body, json: 'document' })
      }
    }
  })

  it('comes without its byte order mark', async () => {
    expect(await run('\uFEFF{"a":1}', 'application/json')).toMatchObject({ content: '{"a":1}', json: 'document' })
  })

  it.each(['application/x-ndjson', 'application/jsonl', 'application/json', 'text/plain'])(
    'lines as %s',
    async (header) => {
      const body = '{"id":675127116845989888}\n{"id":2}\n'
      for (const mode of ['auto', 'raw'] as const) {
        expect(await run(body, header, mode)).toMatchObject({ content: body, json: 'lines' })
      }
    },
  )

  it('is told by its ends where it is long, without being parsed', async () => {
    const long = `[${'{"id":675127116845989888},'.repeat(30_000)}{}]`
    expect(await run(long, 'text/plain')).toMatchObject({ content: long, json: 'document' })
    expect(await run(`${long} and more`, 'text/plain')).toMatchObject({ meta: { content_type: 'text/plain' } })
    const deep = '['.repeat(10_000_000)
    expect(await run(deep, 'text/plain')).toMatchObject({ meta: { content_type: 'text/plain' } })
    expect(await run(deep, 'application/json')).toMatchObject({ json: 'document' })
  })

  it('is not what only begins like it', async () => {
    const conversion = await run('[note] text', 'text/plain')
    expect(conversion).toMatchObject({ content: '[note] text' })
    expect('json' in conversion && conversion.json).toBeFalsy()
  })

  it('has no links, no HTML and no main content', async () => {
    for (const mode of ['links', 'html', 'metadata'] as const) {
      expect(await run('{"a":1}', 'application/json', mode)).toMatchObject({ failure: { code: 'unsupported_type' } })
    }
    expect(await run('{"a":1}', 'application/json', 'article')).toMatchObject({ failure: { code: 'no_article' } })
  })
})

it.each([
  ['<?xml version="1.0"?><note>a</note>', 'application/xml'],
  ['<?xml version="1.0"?><note>a</note>', 'text/plain'],
  ['https://a.example/1\nhttps://a.example/2\n', 'text/plain'],
])('%j as %s comes as it is', async (body, header) => expect(await contentOf(body, header)).toBe(body))

it('reads XML by the encoding in its declaration', async () => {
  const body = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1')
  expect(await contentOf(body, 'application/xml')).toContain('<a>é</a>')
})
