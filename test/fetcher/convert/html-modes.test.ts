import { array, assert, asyncProperty, constantFrom, string, tuple } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { PageLink } from '../../../src/fetcher/convert/html/links-of.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

const PAGE_URL = 'https://site.example/foo/page?b=1'
const PROSE = `<p>${'Enough words, with commas, and clauses, to look like the text of a page. '.repeat(8)}</p>`

async function converted(html: string, mode: Mode) {
  const conversion = await convert({ body: Buffer.from(html), url: PAGE_URL, contentType: 'text/html', mode })
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion
}
const contentOf = async (html: string, mode: Mode) => (await converted(html, mode)).content

describe('mode html', () => {
  const html = (page: string) => contentOf(page, 'html')

  it('keeps the marks of the main content', async () => {
    const page = `<nav><a href="/x">Menu</a></nav><main><h1>Title</h1>${PROSE}<ul><li><b>a</b></ul>
      <table><tr><th scope=col>K<td colspan=2>V</table><pre><code class="hljs language-js">a &lt; b</code></pre></main>`
    const content = await html(page)
    for (const part of [
      '<h1>Title</h1>',
      '<li><b>a</b></li>',
      '<th scope="col">K</th>',
      '<td colspan="2">V</td>',
      '<code class="language-js">a &lt; b</code>',
    ]) {
      expect(content).toContain(part)
    }
    expect(content).not.toContain('Menu')
  })

  it('makes links and images absolute', async () => {
    const content = await html(
      `<base href="/base/"><main>${PROSE}<a href="a?b=1&c=2">l</a> <img src="i.png" alt='"x"'>`,
    )
    expect(content).toContain('<a href="https://site.example/base/a?b=1&amp;c=2">l</a>')
    expect(content).toContain('<img src="https://site.example/base/i.png" alt="&quot;x&quot;">')
  })

  it('keeps nothing that runs, loads or submits', async () => {
    const page = `<main>${PROSE}<script>bad()</script><style>p{}</style><p onclick="bad()" style="x" class="y" id="z">a</p>
      <a href="javascript:bad()">b</a><a href="data:text/html,x">c</a><iframe src="/bad"></iframe><object data="/bad"></object>
      <form action="/bad"><input name=bad><button formaction="/bad">bad</button></form><p><label>kept</label></p>
      <svg><a href="javascript:bad()">x</a></svg><math><mtext><style><img src=bad onerror=bad()></style></mtext></math>
      <img src="javascript:bad()"><video src="/bad"></video><noscript><img src=/bad onerror=bad()></noscript></main>`
    const content = await html(page)
    expect(content).toContain('<p>a</p>')
    expect(content).toContain('kept')
    expect(content).not.toMatch(
      /bad\b|javascript|data:|<(?:script|style|form|input|button|iframe|object|svg|math)|style=/,
    )
  })

  it('writes text as text, TeX and all', async () => {
    const page = `<main>${PROSE}<p>&lt;script&gt;a()&lt;/script&gt; <math alttext="a<b>c"><mi>a</mi></math></p></main>`
    expect(await html(page)).toContain('&lt;script&gt;a()&lt;/script&gt; $a&lt;b&gt;c$')
  })

  it('never lets a page write a tag or attribute that is not listed', async () => {
    const tag = constantFrom(
      'p',
      'div',
      'a',
      'img',
      'svg',
      'math',
      'style',
      'script',
      'table',
      'td',
      'template',
      'x-y',
      'title',
    )
    const attribute = constantFrom(
      '',
      ' onload=x',
      ' href="java\nscript:x"',
      ' src="x" onerror=x',
      ' style=x',
      ' href=/a',
    )
    const text = string({
      unit: constantFrom('<', '>', '"', "'", '&', '`', '/', '=', '!', '-', 'a', ' ', '&lt;', '&quot;'),
    })
    const part = tuple(tag, attribute, text).map(([name, attributes, inner]) => `<${name}${attributes}>${inner}`)
    await assert(
      asyncProperty(array(part, { maxLength: 20 }), async (parts) => {
        const content = await html(`<main>${PROSE}${parts.join('')}</main>`)
        for (const [, name = '', attributes = ''] of content.matchAll(/<([^\s>]+)([^>]*)>/g)) {
          expect(name).toMatch(/^\/?[a-z][a-z0-9]*$/)
          expect(attributes).toMatch(/^(?: (?:href|src|alt)="(?!javascript)[^"<]*")*$/)
        }
        expect(content).not.toMatch(/<\/?(?:svg|math|style|script|template|x-y|title)/)
      }),
      { numRuns: 200 },
    )
  })
})

describe('mode links', () => {
  const linksOf = async (page: string) => JSON.parse(await contentOf(page, 'links')) as PageLink[]

  it('lists every link of the page once, in its order', async () => {
    const page = `<nav><a href="/a" rel="nofollow  noopener">A <b>a</b></a></nav><a href="#top">Top</a>
      <p><a href="//other.example/b">B</a><a href="/a">again</a><a href="c"><img src=i alt="Picture"></a>
      <a href="mailto:x@y.example">Mail</a><a href="tel:+1">Call</a><a href="sms:+1">Text</a><footer><a href="/d" title="Dee"></a>
      <map><area href="/e" alt="Area"></map></footer>`
    expect(await linksOf(page)).toEqual([
      { url: 'https://site.example/a', text: 'A a', rel: 'nofollow noopener', kind: 'internal' },
      { url: `${PAGE_URL}#top`, text: 'Top', rel: '', kind: 'anchor' },
      { url: 'https://other.example/b', text: 'B', rel: '', kind: 'external' },
      { url: 'https://site.example/foo/c', text: 'Picture', rel: '', kind: 'internal' },
      { url: 'mailto:x@y.example', text: 'Mail', rel: '', kind: 'mailto' },
      { url: 'tel:+1', text: 'Call', rel: '', kind: 'tel' },
      { url: 'sms:+1', text: 'Text', rel: '', kind: 'other' },
      { url: 'https://site.example/d', text: 'Dee', rel: '', kind: 'internal' },
      { url: 'https://site.example/e', text: 'Area', rel: '', kind: 'internal' },
    ])
  })

  it('takes the words of a later link for one that has none', async () => {
    expect(await linksOf('<a href="/a"><svg></svg></a><a href="/b">B</a><a href="/a">A</a>')).toMatchObject([
      { url: 'https://site.example/a', text: 'A' },
      { url: 'https://site.example/b', text: 'B' },
    ])
  })

  it('goes by the base of the page, but keeps fragments on it', async () => {
    const links = await linksOf('<base href="https://cdn.example/x/"><a href="a">a</a><a href="#s">s</a>')
    expect(links.map(({ url, kind }) => [url, kind])).toEqual([
      ['https://cdn.example/x/a', 'external'],
      [`${PAGE_URL}#s`, 'anchor'],
    ])
  })

  it('leaves out what leads nowhere, and marks of headings count', async () => {
    const page =
      '<a href="javascript:x">j</a><a href="data:,x">d</a><a>n</a><a href="http://[">b</a><h2><a href="#h">#</a></h2>'
    expect(await linksOf(page)).toEqual([{ url: `${PAGE_URL}#h`, text: '#', rel: '', kind: 'anchor' }])
  })

  it('is an empty list on a page without links, and JSON that is read on', async () => {
    expect(await converted('<p>none', 'links')).toMatchObject({ content: '[]', json: 'document' })
  })

  it('cuts a list without end at a whole link, and says so', async () => {
    const page = Array.from({ length: 600 }, (_, index) => `<a href="/${index}/${'x'.repeat(5_000)}">x</a>`).join('')
    const { content, warnings } = await converted(page, 'links')
    const links = JSON.parse(content) as PageLink[]
    expect(links.length).toBeGreaterThan(100)
    expect(links.length).toBeLessThan(600)
    expect(warnings).toEqual([expect.stringContaining('too many links')])
  })
})

describe('mode metadata', () => {
  const page = `<html lang=en><head><title>Tide tables - Harbour</title><meta name=description content="When the water rises.">
    <meta property="og:title" content="Tide tables"><meta property="og:image" content="/a.jpg"><meta property="og:image" content="/b.jpg">
    <meta property="og:site_name" content="Harbour"><meta property="article:modified_time" content="2024-02-02">
    <link rel=canonical href="/tides"><meta name=author content="Ada Marsh">
    <script type="application/ld+json">{"@type":"Article","datePublished":"2024-01-01","headline":"Tide tables","n":1}</script>
    <script type="application/ld+json">broken</script></head><body><h1>Tide tables</h1>${PROSE}`

  it('is what the page says about itself, as JSON', async () => {
    const { content, json, warnings } = await converted(page, 'metadata')
    expect(json).toBe('document')
    expect(warnings).toEqual([])
    expect(content).toMatch(/^\{\n {2}"title": "Tide tables",\n/)
    expect(JSON.parse(content)).toEqual({
      title: 'Tide tables',
      description: 'When the water rises.',
      byline: 'Ada Marsh',
      published: '2024-01-01',
      modified: '2024-02-02',
      language: 'en',
      canonical_url: 'https://site.example/tides',
      site_name: 'Harbour',
      image: 'https://site.example/a.jpg',
      open_graph: {
        'og:title': 'Tide tables',
        'og:image': ['/a.jpg', '/b.jpg'],
        'og:site_name': 'Harbour',
        'article:modified_time': '2024-02-02',
      },
      json_ld: [{ '@type': 'Article', datePublished: '2024-01-01', headline: 'Tide tables', n: 1 }],
    })
  })

  it('is in meta of other modes, too', async () => {
    expect((await converted(page, 'auto')).meta).toMatchObject({
      modified: '2024-02-02',
      image: 'https://site.example/a.jpg',
    })
  })

  it.each([
    ['{"@type":"Article","image":{"url":"https://i.example/o.png"}}', 'https://i.example/o.png'],
    ['{"@type":"Article","image":["https://i.example/1.png","https://i.example/2.png"]}', 'https://i.example/1.png'],
    ['{"@type":"Article","image":"javascript:x"}', undefined],
  ])('takes its image from %s', async (data, image) => {
    const { meta } = await converted(`<script type="application/ld+json">${data}</script><p>x`, 'auto')
    expect(meta.image).toBe(image)
  })

  it('leaves out JSON-LD that is nested without end, and says so', async () => {
    const deep = `<script type="application/ld+json">${'['.repeat(100_000)}${']'.repeat(100_000)}</script><p>x`
    const { content, warnings } = await converted(deep, 'metadata')
    expect(JSON.parse(content)).toEqual({ open_graph: {}, json_ld: [] })
    expect(warnings).toEqual([expect.stringContaining('nested too deep')])
  })
})

it('the modes for pages refuse what is no page', async () => {
  for (const mode of ['html', 'links', 'metadata'] as const) {
    const source = { body: Buffer.from('{"a":1}'), url: PAGE_URL, contentType: 'application/json', mode }
    expect(await convert(source)).toMatchObject({ failure: { code: 'unsupported_type' } })
  }
})
