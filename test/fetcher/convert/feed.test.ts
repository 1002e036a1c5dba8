import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { Conversion } from '../../../src/fetcher/convert/document.ts'
import { ENTRIES_MAX } from '../../../src/fetcher/convert/feed/feed.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

const run = (body: string | Uint8Array, contentType = 'application/xml', mode: Mode = 'auto'): Promise<Conversion> =>
  convert({ body: Buffer.from(body), url: 'https://site.example/blog/feed', contentType, mode })

async function contentOf(...args: Parameters<typeof run>): Promise<string> {
  const conversion = await run(...args)
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion.content
}

const RSS = `<?xml version="1.0" encoding="iso-8859-1"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><atom:link href="https://site.example/feed" rel="self"/><title>Caf\xE9 &amp; Bar</title><link>https://site.example/</link><description>What is on</description>
<language>fr</language><lastBuildDate>Tue, 05 Mar 2024 10:00:00 GMT</lastBuildDate><image><title>Logo</title><link>https://logo.example/</link></image>
<item><title><![CDATA[Soup & <b>bread</b>]]></title><link>posts/1</link><pubDate>Tue, 05 Mar 2024 08:00:00 +0100</pubDate><dc:creator><![CDATA[Ada]]></dc:creator>
<description><![CDATA[<p>Hot <a href="/menu">soup</a>.</p><h2>Price</h2><p>3 \xA3</p>]]></description><content:encoded><![CDATA[<p>The whole text.</p>]]></content:encoded></item>
<item><title>Bare & simple</title><guid>https://site.example/p/2</guid><author>eve@site.example (Eve)</author><description>1 &lt; 2 &amp;amp; plain</description></item>
<item><guid isPermaLink="false">https://site.example/no</guid><enclosure url="https://cdn.example/a.mp3" type="audio/mpeg"/><description>Sound</description></item>
</channel></rss>`

describe('RSS 2.0', () => {
  it.each([
    'application/xml',
    'application/rss+xml',
    'text/xml',
    'text/html',
    'text/plain',
    'application/octet-stream',
  ])('as %s is a list of entries with absolute links', async (header) => {
    expect(await contentOf(Buffer.from(RSS, 'latin1'), header)).toBe(`# Café & Bar

What is on

## [Soup & bread](https://site.example/posts/1)

2024-03-05T07:00:00Z · Ada

Hot [soup](https://site.example/menu).

#### Price

3 £

## [Bare & simple](https://site.example/p/2)

Eve

1 < 2 & plain

## [https://cdn.example/a.mp3](https://cdn.example/a.mp3)

Sound`)
  })

  it('tells what the feed says about itself', async () => {
    const meta = {
      title: 'Café & Bar',
      description: 'What is on',
      modified: 'Tue, 05 Mar 2024 10:00:00 GMT',
      language: 'fr',
      canonical_url: 'https://site.example/',
    }
    const body = Buffer.from(RSS, 'latin1')
    expect(await run(body)).toMatchObject({
      meta: { ...meta, charset: 'windows-1252', content_type: 'application/xml' },
    })
    expect(JSON.parse(await contentOf(body, 'text/xml', 'metadata'))).toEqual(meta)
  })

  it('gives whole texts in mode full, links in mode links, its source in mode raw', async () => {
    const body = Buffer.from(RSS, 'latin1')
    expect(await contentOf(body, 'text/xml', 'full')).toContain('The whole text.')
    expect(await contentOf(body, 'text/xml', 'raw')).toBe(RSS)
    const links = await run(body, 'text/xml', 'links')
    expect(links).toMatchObject({ json: 'document' })
    expect(JSON.parse(await contentOf(body, 'text/xml', 'links'))).toEqual([
      { url: 'https://site.example/posts/1', text: 'Soup & bread', rel: '', kind: 'internal' },
      { url: 'https://site.example/p/2', text: 'Bare & simple', rel: '', kind: 'internal' },
      { url: 'https://cdn.example/a.mp3', text: 'https://cdn.example/a.mp3', rel: '', kind: 'external' },
    ])
    const text = await contentOf(body, 'text/xml', 'text')
    expect(text).toContain('Hot soup.')
    expect(text).not.toMatch(/\]\(|^#/m)
    expect(await contentOf(body, 'text/xml', 'html')).toContain('<h2><a href="https://site.example/posts/1">')
  })
})

it('RSS 1.0 has its items beside the channel', async () => {
  const feed = `<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:d="http://purl.org/dc/elements/1.1/">
    <channel rdf:about="x"><title>News</title><link>https://n.example/</link><items><rdf:Seq><rdf:li resource="y"/></rdf:Seq></items></channel>
    <item rdf:about="y"><title>One</title><link>https://n.example/1</link><d:date>2024-03-05</d:date><d:creator>Ada</d:creator><description>Text</description></item></rdf:RDF>`
  expect(await contentOf(feed)).toBe('# News\n\n## [One](https://n.example/1)\n\n2024-03-05 · Ada\n\nText')
})

const ATOM = `<?xml version="1.0" encoding="utf-8"?><?xml-stylesheet href="a.xsl"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en" xml:base="https://base.example/dir/"><title type="html">A &amp;amp; &lt;i&gt;B&lt;/i&gt;</title><subtitle>Sub</subtitle>
<link rel="self" href="atom.xml"/><link href="/home"/><updated>2024-03-05T08:00:00Z</updated><author><email>x@y.example</email><name>Ada</name></author>
<entry><title>First</title><link rel="edit" href="edit/1"/><link rel="alternate" href="1"/><id>tag:1</id><published>2024-03-04T08:00:00+01:00</published><author><name>Eve</name><uri>https://eve.example/</uri></author>
<summary type="text">a &lt; b</summary><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>See <a href="more">more</a><br/>here &amp;lt;</p></div></content></entry>
<entry xml:base="2024/"><title>Second</title><link href="2"/><content type="html">&lt;p&gt;Whole &lt;a href="x"&gt;x&lt;/a&gt;&lt;/p&gt;</content><source><title>Other</title></source></entry></feed>`

describe('Atom', () => {
  it.each(['application/atom+xml', 'application/xml', 'text/xml', undefined])('as %s', async (header) => {
    expect(await contentOf(ATOM, header)).toBe(`# A & B

Sub

## [First](https://base.example/dir/1)

2024-03-04T07:00:00Z · Eve

a < b

## [Second](https://base.example/dir/2024/2)

Whole [x](https://base.example/dir/2024/x)`)
    expect(await run(ATOM, header)).toMatchObject({
      meta: { byline: 'Ada', language: 'en', canonical_url: 'https://base.example/home' },
    })
  })

  it('has XHTML in its entries', async () => {
    expect(await contentOf(ATOM, undefined, 'full')).toContain(
      'See [more](https://base.example/dir/more)  \nhere \\&lt;',
    )
  })

  it('under any prefix', async () => {
    const feed =
      '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>T</a:title><a:entry><a:title>E</a:title><a:link href="/e"/></a:entry></a:feed>'
    expect(await contentOf(feed)).toBe('# T\n\n## [E](https://site.example/e)')
  })

  it('keeps what videos say in their groups', async () => {
    const feed =
      '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://search.yahoo.com/mrss/"><title>T</title><entry><title>E</title><m:group><m:title>No</m:title><m:description>Told</m:description></m:group></entry></feed>'
    expect(await contentOf(feed)).toBe('# T\n\n## E\n\nTold')
  })
})

describe('JSON Feed', () => {
  const feed = {
    version: 'https://jsonfeed.org/version/1.1',
    title: 'J & K',
    home_page_url: 'https://j.example/',
    authors: [{ name: 'Ada' }],
    items: [
      {
        id: 1,
        url: '/1',
        title: 'One',
        content_html: '<p>Whole <b>text</b></p>',
        date_published: '2024-03-05T08:00:00Z',
      },
      {
        id: '2',
        external_url: 'https://k.example/2',
        content_text: 'a < b\n\nc',
        summary: 'short',
        author: { name: 'Eve' },
      },
      'no item',
    ],
  }

  it.each(['application/feed+json', 'application/json', 'text/plain'])('as %s', async (header) => {
    expect(await contentOf(`\uFEFF${JSON.stringify(feed)}`, header)).toBe(
      '# J & K\n\n## [One](https://site.example/1)\n\n2024-03-05T08:00:00Z\n\nWhole **text**\n\n## [https://k.example/2](https://k.example/2)\n\nEve\n\nshort',
    )
    expect(await contentOf(JSON.stringify(feed), header, 'full')).toContain('a < b\n\nc')
  })

  it('is JSON in mode raw', async () => {
    const body = JSON.stringify(feed)
    expect(await run(body, 'application/json', 'raw')).toMatchObject({ content: body, json: 'document' })
  })

  it('is told by its version alone', async () => {
    const body = '{"version":"1","title":"x","items":[],"note":"\\"version\\": \\"https://jsonfeed.org/version/1\\""}'
    expect(await run(body, 'application/json')).toMatchObject({ content: body, json: 'document' })
  })
})

describe('sitemaps', () => {
  it.each([
    [
      'of pages',
      '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i"><url><loc>\n https://a.example/1?x=1&amp;y=2 </loc><lastmod>2024</lastmod><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url><url><loc><![CDATA[/2]]></loc></url></urlset>',
      'https://a.example/1?x=1&y=2\nhttps://site.example/2',
    ],
    [
      'of sitemaps',
      '<sitemapindex><sitemap><loc>https://a.example/s1.xml</loc></sitemap><sitemap><loc>https://a.example/s2.xml</loc></sitemap></sitemapindex>',
      'https://a.example/s1.xml\nhttps://a.example/s2.xml',
    ],
  ])('%s are lists of addresses', async (_what, body, list) => {
    for (const header of ['application/xml', 'text/html', 'text/plain'])
      expect(await contentOf(body, header)).toBe(list)
    expect(await contentOf(body, 'text/xml', 'raw')).toBe(body)
    const links = JSON.parse(await contentOf(body, 'text/xml', 'links')) as { url: string }[]
    expect(links.map(({ url }) => url).join('\n')).toBe(list)
  })

  it('list no address that is not of the web', async () => {
    const urls = ['javascript:1', 'https://a.example/1', 'mailto:a@a.example', 'data:,x', 'ftp://a.example/', '/2']
    const body = `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`
    expect(await contentOf(body)).toBe('https://a.example/1\nhttps://site.example/2')
  })

  it('without an address are empty', async () => {
    expect(await run('<urlset></urlset>')).toMatchObject({ failure: { code: 'empty' } })
    expect(await run('<urlset><url><loc>javascript:1</loc></url></urlset>')).toMatchObject({
      failure: { code: 'empty' },
    })
  })
})

describe('hostile feeds', () => {
  it('expand no entity and read no file', async () => {
    const type = '<!DOCTYPE rss [<!ENTITY a "laugh"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    const feed = `<?xml version="1.0"?>${type}<rss><channel><title>&b; &f; &eacute;</title></channel></rss>`
    expect(await contentOf(feed)).toMatch(/^# \\?&b; \\?&f; é$/)
  })

  it('stay apart, however broken one entry is', async () => {
    const feed = `<rss><channel><title>T</title><item><title>One</title><description><![CDATA[</div></div><!-- <textarea><table><b>]]></description></item><item><title>Two</title><description>text</description></item></channel></rss>`
    expect(await contentOf(feed)).toMatch(/## One\n[\s\S]*## Two\n\ntext$/)
  })

  it('are cut after many entries', { timeout: 60_000 }, async () => {
    const feed = `<rss><channel><title>T</title>${'<item><title>a</title></item>'.repeat(ENTRIES_MAX + 1)}</channel></rss>`
    expect(await run(feed)).toMatchObject({ meta: { truncated: true }, warnings: [expect.stringContaining('entries')] })
  })

  it('never throw', { timeout: 60_000 }, async () => {
    const pieces = `<item> </item> <entry> </entry> <title> </title> <link>/x</link> <link\u00A0href="//["/> <description> </description> <content\u00A0type="xhtml"> </content>
      <author> </author> <name> </name> <![CDATA[ ]]> <b> </b> & &lt; &#0; < > <!-- --> <?x ?> <!DOCTYPE text <pubDate>x</pubDate> <guid>http://[</guid> <media:group> xml:base="http://["`
    const piece = constantFrom(...pieces.split(/ +|\n/).map((text) => text.replaceAll('\u00A0', ' ')))
    await assert(
      asyncProperty(
        array(piece, { maxLength: 40 }),
        constantFrom('<rss><channel>', '<feed>', '<urlset><url><loc>'),
        async (parts, root) => {
          await expect(run(root + parts.join(''))).resolves.toBeDefined()
        },
      ),
      { numRuns: 300 },
    )
  })
})

it('a JSON Feed is Markdown as any feed is, and JSON of another kind is not', async () => {
  const read = (value: object) => {
    const body = Buffer.from(JSON.stringify(value))
    return convert({ body, url: 'https://a.example/feed', contentType: 'application/json', mode: 'auto' })
  }
  const items = [{ id: '1', title: 'A', content_text: 'x' }]
  expect(await read({ version: 'https://jsonfeed.org/version/1.1', title: 'F', items })).toHaveProperty(
    'isMarkdown',
    true,
  )
  expect(await read({ items })).not.toHaveProperty('isMarkdown')
})
