import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

/** The whole page as Markdown, unless another mode is asked for. */
function markdown(html: string, { mode = 'full' }: { mode?: Mode } = {}): string {
  const url = 'https://site.example/foo/bar?x=1'
  const conversion = convert({ body: Buffer.from(html), url, contentType: 'text/html; charset=utf-8', mode })
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion.content
}
const PROSE = 'Enough words, with commas, and clauses, to look like the text of a page that somebody wrote. '.repeat(4)

describe('links', () => {
  it.each([
    ['/x', 'https://site.example/x'],
    ['?q', 'https://site.example/foo/bar?q'],
    ['../x', 'https://site.example/x'],
    ['//h.example/x', 'https://h.example/x'],
    ['page.php', 'https://site.example/foo/page.php'],
    ['HTTP://Other.example', 'http://other.example/'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['/Some Page.html', 'https://site.example/Some%20Page.html'],
  ])('are absolute: %s', (href, url) => {
    expect(markdown(`<p><a href="${href}">x</a>`)).toBe(`[x](${url})`)
  })

  it.each(['/Party_(US)', '/a)b', '/a(b'])('stay whole with a parenthesis: %s', (href) => {
    expect(markdown(`<p><a href="${href}">x</a>`)).toBe(`[x](<https://site.example${href}>)`)
  })

  it('go by the first base that leads to http(s)', () => {
    const page = '<base target=_blank><base href="javascript:1"><base href="/"><base href="/other/">'
    expect(markdown(`${page}<p><a href="page.php">x</a> <img src="i.png" alt="i">`)).toBe(
      '[x](https://site.example/page.php) ![i](https://site.example/i.png)',
    )
  })

  it('to a place on the page stay on it, whatever its base says', () => {
    const link = '<p><a href="#s">x</a>'
    expect(markdown(link)).toBe('[x](https://site.example/foo/bar?x=1#s)')
    expect(markdown(`<base href="/">${link}`)).toBe('[x](https://site.example/foo/bar?x=1#s)')
  })

  it.each(['javascript:alert(1)', ' JavaScript:void(0)', 'data:text/html,x', 'vbscript:x', 'http://[', 'blob:x'])(
    'to nowhere leave their text: %s',
    (href) => expect(markdown(`<p>a <a href="${href}">b</a> c`)).toBe('a b c'),
  )

  it('around a card go to its heading', () => {
    expect(markdown('<a href="/c"><div><h3>Card</h3><p>Text of it</p></div></a>')).toBe(
      '### [Card](https://site.example/c)\n\nText of it',
    )
  })

  it('that headings carry to themselves go', () => {
    expect(markdown('<h2 id=a>Part <a class=anchor href="#a">#</a></h2>')).toBe('## Part')
  })
})

describe('images', () => {
  it('with their bytes in the page leave their words', () => {
    const data = `data:image/png;base64,${'A'.repeat(400_000)}`
    expect(markdown(`<p>before</p><img src="${data}" alt="The chart"><p>after</p>`)).toBe(
      'before\n\nThe chart\n\nafter',
    )
    expect(markdown(`<p>before <img src="data:image/png;base64,AA=="> after</p>`)).toBe('before after')
  })

  it.each([
    ['data-src="/lazy.jpg" src="data:image/gif;base64,R0lGOD=="', '/lazy.jpg'],
    ['srcset="/s.jpg 1x, /l.jpg 2x"', '/s.jpg'],
    ['data-original="/o.jpg"', '/o.jpg'],
  ])('that load late have their source: %s', (attributes, source) => {
    expect(markdown(`<p><img ${attributes} alt="a">`)).toBe(`![a](https://site.example${source})`)
  })

  it('of one pixel go', () => expect(markdown('<p>a<img src="/p.gif" width=1 height=1>b')).toBe('ab'))
})

describe('tables', () => {
  it('have no more columns for a pipe in a cell', () => {
    const cells = '<td>a | b<td><code>c | d</code><td><a href="/e|f">e | f</a><td><img src="/g" alt="g|h">'
    const lines = markdown(`<table><tr><th>1<th>2<th>3<th>4<tr>${cells}</table>`).split('\n')
    expect(lines[2]).toBe(
      '| a \\| b | `c \\| d` | [e \\| f](https://site.example/e%7Cf) | ![g¦h](https://site.example/g) |',
    )
  })

  it('keep their columns in line where cells span', () => {
    const rows = '<tr><th>K<th colspan=2>Span<tr><td rowspan=2>rs<td>p<td>q<tr><td>s<td>t'
    expect(markdown(`<table>${rows}</table>`)).toMatch(/\| K \| Span \| +\|\n.*\n\| rs \| p \| q \|\n\| +\| s \| t \|/)
  })

  it('keep blocks and lists on the line of their cell', () => {
    const page = '<table><tr><th>A<th>B<tr><td><p>x</p><p>y</p><td><ul><li>1<li>2</ul></table>'
    expect(markdown(page)).toContain('| x<br>y | • 1<br>• 2 |')
  })

  it('keep code in a cell, a span for each line', () => {
    expect(markdown('<table><tr><th>A<tr><td><pre>a | b\nc</pre></table>')).toContain('| `a \\| b`<br>`c` |')
  })

  it('that only place things become blocks', () => {
    const inner = '<table><tr><th>A<th>B<tr><td>1<td>2</table>'
    expect(markdown(`<table><tr><td><p>left</p><td>${inner}</table>`)).toMatch(
      /^left\n+\| A \| B \|\n\| --- \| --- \|\n\| 1 \| 2 \|$/,
    )
    expect(markdown('<table><tr><td><h2>Head</h2><p>Text</table>')).toBe('## Head\n\nText')
  })

  it('bound what spans may add', () => {
    const page = `<table>${'<tr>' + '<td colspan=1000 rowspan=1000>x'.repeat(50)}${'<tr><td>y'.repeat(500)}</table>`
    expect(markdown(page).length).toBeLessThan(500_000)
  })
})

describe('code', () => {
  const code = 'if a:\n\n\treturn `x` <b> & \\_ * | \uD83D\uDE00\n        deep  '

  it.each(['full', 'auto'] as const)('comes out as it went in (mode %s)', (mode) => {
    const escaped = code.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const page = `<main><p>${PROSE}</p><pre><code class="language-python">\n${escaped}\n</code></pre><p>${PROSE}</p></main>`
    expect(markdown(page, { mode })).toContain(`\`\`\`python\n${code}\n\`\`\``)
  })

  it('keeps the words that a highlighter calls comments', () => {
    const spans = '<span class="hljs-comment comment">// why</span>\n<span class="sidebar">a</span>'
    const page = `<article><p>${PROSE}</p><pre><code>${spans}</code></pre><p>${PROSE}</p></article>`
    expect(markdown(page, { mode: 'article' })).toContain('```\n// why\na\n```')
  })

  it.each([
    ['<pre class="lang-sh">x</pre>', 'sh'],
    ['<pre data-lang="rust">x</pre>', 'rust'],
    ['<div class="highlight highlight-source-ts"><pre>x</pre></div>', 'ts'],
    ['<pre class="brush: java">x</pre>', 'java'],
    ['<pre class="code-block"><code>x</code></pre>', ''],
  ])('names its language: %s', (html, language) => expect(markdown(html)).toBe(`\`\`\`${language}\nx\n\`\`\``))

  it('stands in its list item and its quote', () => {
    expect(markdown('<ol><li>one <pre>a\n b</pre><li>two</ol>')).toBe('1. one\n\n   ```\n   a\n    b\n   ```\n2. two')
    expect(markdown('<blockquote><p>q</p><pre>a\nb</pre></blockquote>')).toBe('> q\n>\n> ```\n> a\n> b\n> ```')
  })

  it('in a line has marks around its own marks', () => {
    expect(markdown('<p><code>a `b` c</code> <kbd>`</kbd> <code>snake_case</code>')).toBe(
      '``a `b` c`` `` ` `` `snake_case`',
    )
  })
})

describe('other marks', () => {
  it.each([
    ['<dl><dt>Term<dd>One<dd>Two</dl>', '- **Term**\n\n  One\n\n  Two'],
    ['<details><summary>More</summary><p>Hidden</p></details>', '**More**\n\nHidden'],
    ['<ul><li><input type=checkbox checked> done<li><input type=checkbox> todo</ul>', '- [x] done\n- [ ] todo'],
    ['<p>so <script type="math/tex">a_1^2</script> it <math alttext="b*c"><mi>b</mi></math>', 'so $a_1^2$ it $b*c$'],
    ['<p>snake_case and 2 * 3', 'snake_case and 2 \\* 3'],
    ['<p>H<sub>2</sub>O <mark>hi</mark> <u>u</u>', 'H<sub>2</sub>O hi u'],
  ])('%s', (html, expected) => expect(markdown(html)).toBe(expected))

  it('footnotes are notes of Markdown', () => {
    const notes = '<ol><li id="fn1"><p>The note. <a href="#fnref1" class="footnote-backref">↩</a></p></li></ol>'
    expect(markdown(`<p>Claim<sup id="fnref1"><a href="#fn1">1</a></sup> stands.</p>${notes}`)).toBe(
      'Claim[^1] stands.\n\n[^1]: The note.',
    )
  })

  it('KaTeX is its TeX, once', () => {
    const annotation = '<annotation encoding="application/x-tex">e^x</annotation>'
    const katex = `<span class="katex"><span class="katex-mathml"><math>${annotation}</math></span><span class="katex-html">ex</span></span>`
    expect(markdown(`<p>Euler: ${katex}.`)).toBe('Euler: $e^x$.')
    expect(markdown(`<p>Euler: ${katex}.`, { mode: 'text' })).toBe('Euler: $e^x$.')
  })

  it('a page cannot forge what is held back', () => {
    expect(markdown('<p>\uFDD00\uFDD1 <code>a</code>')).toBe('0 `a`')
  })
})

describe('pages that need a repair', () => {
  it('show what React streamed last in its place', () => {
    const page = '<div id=a><template id="B:0"></template></div><p>end</p><div hidden id="S:0"><p>late</p></div>'
    expect(markdown(page)).toBe('late\n\nend')
  })

  it('show what they send to programs without scripts', () => {
    const forum = `<div id=app>Loading</div><noscript><div><h1>Topic</h1><p>${PROSE}</p></div></noscript>`
    expect(markdown(forum, { mode: 'auto' })).toContain('Enough words')
  })

  it('do not show a notice about scripts', () => {
    expect(markdown('<p>Text</p><noscript>Please enable JavaScript.</noscript>')).toBe('Text')
  })
})

describe('the main content', () => {
  it('keeps paragraphs whose names sound like a frame', () => {
    const page = `<body><p class="MsoHeader">First. ${PROSE}</p><div id="gdpr-intro">Second. ${PROSE}</div><div class="footer-note">Third. ${PROSE}</div>`
    const content = markdown(page, { mode: 'auto' })
    for (const word of ['First', 'Second', 'Third']) expect(content).toContain(word)
  })

  it('keeps a page that stands in an unclosed aside, or is hidden until scripts run', () => {
    expect(markdown(`<aside><h2>Box</h2><p>${PROSE}</p><p>${PROSE}</p>`, { mode: 'auto' })).toContain('Enough words')
    expect(markdown(`<body><div style="display:none"><p>${PROSE}</p></div>`, { mode: 'auto' })).toContain(
      'Enough words',
    )
  })

  it('is cut from its frame without a mark of its own', () => {
    const links = '<ul class="menu"><li><a href="/a">Alpha</a><li><a href="/b">Beta</a></ul>'
    const content = markdown(`${links}<h1>Title</h1><p>${PROSE}</p><p>${PROSE}</p><footer>Imprint</footer>`, {
      mode: 'auto',
    })
    expect(content).toContain('# Title')
    expect(content).not.toMatch(/Alpha|Imprint/)
  })
})

it('6,000 levels cost no more than their length', () => {
  const page = `${'<div>'.repeat(6_000)}<p>deep text</p>${'</div>'.repeat(6_000)}`
  const startedAt = performance.now()
  expect(markdown(page)).toBe('deep text')
  expect(performance.now() - startedAt).toBeLessThan(5_000)
})
