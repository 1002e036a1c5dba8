import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'

const PROSE = `<p>${'Enough words, with commas, and clauses, to look like the text of a page that somebody wrote. '.repeat(3)}</p>`
const ARTICLE = '<meta property="og:type" content="article">'

/** The text of a page whose article holds `added` between its paragraphs. */
async function textOf(added: string, { head = ARTICLE }: { head?: string } = {}): Promise<string> {
  const html = `<html><head>${head}</head><body><article><h1>Title</h1>${PROSE.repeat(4)}${added}${PROSE.repeat(4)}</article>`
  const source = { body: Buffer.from(html), url: 'https://www.site.example/a/b', contentType: 'text/html' }
  const conversion = await convert({ ...source, mode: 'text' })
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion.content
}

describe('an article loses what its site adds:', () => {
  it.each([
    ['a box of related pages', '<div class="related-posts"><h3>XX</h3><p>Another story that is not this one</p></div>'],
    ['a newsletter', '<div class="NewsletterSignup"><p>XX: get our news by mail every day of the week.</p></div>'],
    ['a bar to share', '<ul class="shareBar"><li>XX</li><li>Post</li></ul>'],
    ['tags', '<p class="tags">XX, tides, harbours</p>'],
    ['a line about the author', '<p class="byline">XX by Ada Marsh</p>'],
    ['the life of the author', '<div class="author-bio"><p>XX has written about the sea for twenty years.</p></div>'],
    ['a date', '<div><time datetime="2024-01-01">XX 1 January</time></div>'],
    ['the credit of a picture', '<figure><img src="/p.jpg"><span class="imageCredit">XX: Bo Berg</span></figure>'],
    ['a link to another story', '<p><strong><a href="/c">XX: THE OTHER STORY OF THE DAY</a></strong></p>'],
    ['a pointer to another story', '<p>XX more: <a href="https://site.example/c">The other story of the day</a></p>'],
    [
      'links to other stories',
      '<ul><li><a href="/c">XX is a story</a></li><li><a href="/d">The second story of it</a></li></ul>',
    ],
    ['comments', '<section id="comments"><p>XX I do not agree at all.</p></section>'],
  ])('%s', async (_what, added) => {
    expect(await textOf(added)).not.toContain('XX')
  })
})

describe('an article keeps', () => {
  it.each([
    ['links to other sites', '<p><a href="https://shop.example/p">XX kettle, red, two litres</a></p>'],
    ['a list of sources', '<ul><li><a href="https://a.example/1">XX the first source of it</a></li></ul>'],
    ['a short list of steps', '<ul><li>XX step</li><li>Second step</li></ul>'],
    ['a link in a sentence', `<p>${'Many words of it. '.repeat(8)}<a class="tag-link" href="/t">XX</a> and on.</p>`],
    ['a date in a sentence', `<p>${'Many words of it. '.repeat(8)}<time>XX 1 January</time> and on.</p>`],
    ['a table by any name', '<div class="trending"><table><tr><th>K<th>V<tr><td>XX<td>1</table></div>'],
    ['code by any name', '<div class="trending"><pre>XX = 1</pre></div>'],
    ['a caption', '<figure><img src="/p.jpg"><figcaption>XX, the harbour at low tide.</figcaption></figure>'],
    ['what is most of it, whatever its name', `<div class="latest">XX ${PROSE.repeat(12)}</div>`],
  ])('%s', async (_what, added) => expect(await textOf(added)).toContain('XX'))
})

it('a page that is no article keeps links and names', async () => {
  const added = '<p><a href="/c">XX is the name of another page</a></p><p class="date">YY 2024</p>'
  const content = await textOf(added, { head: '' })
  expect(content).toContain('XX')
  expect(content).toContain('YY')
})

it('an article that says so in microdata loses its comments, however many', async () => {
  const comments = `<div id="comments">${'<p>XX I do not agree with any of what it says, and here is why.</p>'.repeat(200)}</div>`
  const html = `<body><div itemprop="articleBody"><h1>Title</h1>${PROSE.repeat(3)}</div>${comments}`
  const source = { body: Buffer.from(html), url: 'https://x.example/', contentType: 'text/html', mode: 'auto' } as const
  const conversion = await convert(source)
  expect(conversion).toMatchObject({ content: expect.stringContaining('Enough words') as string })
  expect(conversion).toMatchObject({ content: expect.not.stringContaining('XX') as string })
})
