import { readFileSync } from 'node:fs'

import { array, assert, asyncProperty, constantFrom, oneof, string, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

const URL = 'https://site.example/docs/page?b=1'

function run(
  body: string | Uint8Array,
  contentType: string | undefined = 'text/html; charset=utf-8',
  mode: Mode = 'auto',
) {
  return convert({ body: typeof body === 'string' ? Buffer.from(body) : body, url: URL, contentType, mode })
}
const fixture = (name: string) =>
  readFileSync(new globalThis.URL(`../../fixtures/pages/${name}`, import.meta.url), 'utf8')
const contentOf = async (...args: Parameters<typeof run>) => {
  const conversion = await run(...args)
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion.content
}
const codeOf = async (...args: Parameters<typeof run>) => {
  const conversion = await run(...args)
  return 'failure' in conversion ? conversion.failure.code : 'content'
}

describe('an article', () => {
  const article = fixture('article.html')

  it('comes as its title and text, without what frames it', async () => {
    const content = await contentOf(article)
    expect(content).toMatch(/^# The lighthouse keeper of Skerry Rock\n/)
    expect(content).toContain('The lamp was lit for the first time in 1843')
    expect(content).toContain('the last keeper left in 1987')
    for (const noise of ['Home', 'Subscribe', 'cookies', 'Most read', 'All rights reserved']) {
      expect(content).not.toContain(noise)
    }
  })

  it('comes the same in mode article', async () =>
    expect(await contentOf(article, undefined, 'article')).toBe(await contentOf(article)))

  it('comes with the rest of its page in mode full', async () => {
    const content = await contentOf(article, undefined, 'full')
    for (const part of ['Home', 'Subscribe', 'The lamp was lit', 'All rights reserved']) expect(content).toContain(part)
  })

  it('comes without marks in mode text', async () => {
    const content = await contentOf(article, undefined, 'text')
    expect(content).toContain('a tower of granite blocks')
    expect(content).not.toMatch(/\]\(|\*\*|^#/m)
  })

  it('comes as it was sent in mode raw', async () => expect(await contentOf(article, undefined, 'raw')).toBe(article))

  it('comes with what the page says about itself', async () => {
    expect(await run(article)).toMatchObject({
      meta: {
        content_type: 'text/html',
        charset: 'UTF-8',
        title: 'The lighthouse keeper of Skerry Rock',
        description: 'How a light at the edge of the sea was kept for 144 years.',
        byline: 'Ada Marsh',
        published: '2024-03-05T08:00:00Z',
        language: 'en-GB',
        site_name: 'Harbour Review',
        canonical_url: 'https://review.example/skerry-rock',
      },
      warnings: [],
    })
  })
})

it('keeps every block of code of a documentation page, exactly', async () => {
  const content = await contentOf(fixture('documentation.html'))
  expect(content).toContain(
    '```python\ndef load(path):\n\tif not path:\n\n\t\treturn None  # comment stays\n\treturn open(path)\n```',
  )
  expect(content).toContain('````js\nconst md = "```"\n````')
  expect(content).toContain('```go\nfunc main() {}\n```')
  expect(content).toContain('Call ``a `tick` b`` first.')
})

it('keeps all rows of a page that is a table', async () => {
  const content = await contentOf(fixture('table.html'))
  expect(content).toContain('| Station | Depth | Reading |')
  for (let row = 1; row <= 50; row += 1) expect(content).toContain(`| S${row} | ${row * 10} m |`)
})

it('reads a GBK page by its header or its meta', async () => {
  const bytes = Buffer.from('d6d0cec4', 'hex')
  const page = (head: string) =>
    Buffer.concat([Buffer.from(`<html><head>${head}</head><body><p>`), bytes, Buffer.from('</p>')])
  expect(await contentOf(page('<meta charset=gb2312>'), 'text/html')).toBe('中文')
  expect(await contentOf(page(''), 'text/html; charset="GB2312"')).toBe('中文')
})

describe('JSON', () => {
  it('comes as it is: digits, order and blanks', async () => {
    const json = '{ "id": 675127116845989888, "b": 1.0,\n "a": 1e2 }'
    for (const mode of ['auto', 'full', 'text', 'raw'] as const)
      expect(await contentOf(json, 'application/json', mode)).toBe(json)
    expect(await contentOf(fixture('items.json'), 'application/json')).toContain('675127116845989888')
  })

  it('comes without its byte order mark', async () =>
    expect(await contentOf('\uFEFF{"a":1}', 'application/json')).toBe('{"a":1}'))

  it('is no article', async () => expect(await codeOf('{"a":1}', 'application/json', 'article')).toBe('no_article'))
})

it.each([
  ['# Title\n\n- a\n', 'text/markdown'],
  ['<?xml version="1.0"?><catalog><title>a</title></catalog>', 'application/xml'],
  ['BEGIN:VCARD\r\nFN:A\r\nEND:VCARD\r\n', 'text/vcard'],
  ['body { color: red }', 'text/css'],
  ['let a = 1 < 2', 'text/javascript'],
])('gives other text as it is: %j', async (text, type) => expect(await contentOf(text, type)).toBe(text))

const PNG = Buffer.from('\x89PNG\r\n\x1A\n\0\0\0\rIHDR', 'latin1')

describe('nothing to give is', () => {
  it.each([
    ['no bytes', ''],
    ['white space', ' \r\n\t '],
    ['a byte order mark', '\uFEFF \n'],
    ['a page without a body', '<html><body></body></html>'],
    ['a page of styles and data', '<!doctype html><div></div><script type="text/x">text</script><style>p{}</style>'],
    ['an empty link', '<p><a href="/x"></a>&nbsp;</p>'],
  ])('empty: %s', async (_what, body) => {
    expect(await codeOf(body)).toBe('empty')
    expect(await codeOf(body, undefined, 'full')).toBe('empty')
    expect(await codeOf(body, undefined, 'text')).toBe('empty')
  })

  it('unsupported_type in every mode, with the name of the format', async () => {
    for (const mode of ['auto', 'article', 'full', 'text', 'raw'] as const) {
      expect(await run(PNG, 'text/html', mode)).toEqual({
        failure: {
          code: 'unsupported_type',
          message: 'The document is a PNG image; it cannot be turned into text.',
        },
      })
    }
  })

  it('no_article on a page without a main content', async () => {
    expect(await codeOf('<h1>Sign in</h1><form><input><button>Go</button></form>', undefined, 'article')).toBe(
      'no_article',
    )
  })
})

it('never throws on tag soup', { timeout: 60_000 }, async () => {
  const names =
    'a b p div table tr td th ul li pre code h1 h2 svg math template noscript select option form sup dl dt dd img br base script style title textarea frameset body html head details summary article'
  const name = constantFrom(...names.split(' '))
  const attribute = constantFrom(
    '',
    ' href="x y"',
    ' href="javascript:1"',
    ' id=fn1',
    ' class="footnote-ref"',
    ' src=data:x',
    ' alt="a|b"',
    ' rowspan=9 colspan=99',
    ' hidden',
    ' style="display:none"',
    ' href="#fn1"',
    ' href="//["',
  )
  const part = oneof(
    tuple(name, attribute).map(([tag, attributes]) => `<${tag}${attributes}>`),
    name.map((tag) => `</${tag}>`),
    constantFrom(
      'text, and more ',
      '`',
      '|',
      '&lt;',
      '&#0;',
      '<!--',
      '-->',
      '<![CDATA[',
      '\0',
      '\uFDD00\uFDD1',
      '\uD800',
    ),
    string({ maxLength: 5 }),
  )
  const mode = constantFrom<Mode>('auto', 'article', 'full', 'text', 'html', 'links', 'metadata', 'raw')
  await assert(
    asyncProperty(array(part, { maxLength: 60 }), mode, async (parts, chosen) => {
      await run(parts.join(''), 'text/html', chosen)
    }),
    { numRuns: 400 },
  )
})
