import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

/** The whole page as Markdown, unless another mode is asked for. */
async function markdown(html: string, { mode = 'full' }: { mode?: Mode } = {}): Promise<string> {
  const url = 'https://site.example/foo/bar?x=1'
  const conversion = await convert({ body: Buffer.from(html), url, contentType: 'text/html; charset=utf-8', mode })
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
  ])('are absolute: %s', async (href, url) => {
    expect(await markdown(`<p><a href="${href}">x</a>`)).toBe(`[x](${url})`)
  })

  it.each(['/Party_(US)', '/a)b', '/a(b'])('stay whole with a parenthesis: %s', async (href) => {
    expect(await markdown(`<p><a href="${href}">x</a>`)).toBe(`[x](<https://site.example${href}>)`)
  })

  it('go by the first base that leads to http(s)', async () => {
    const page = '<base target=_blank><base href="javascript:1"><base href="/"><base href="/other/">'
    expect(await markdown(`${page}<p><a href="page.php">x</a> <img src="i.png" alt="i">`)).toBe(
      '[x](https://site.example/page.php) ![i](https://site.example/i.png)',
    )
  })

  it('to a place on the page stay on it, whatever its base says', async () => {
    const link = '<p><a href="#s">x</a>'
    expect(await markdown(link)).toBe('[x](https://site.example/foo/bar?x=1#s)')
    expect(await markdown(`<base href="/">${link}`)).toBe('[x](https://site.example/foo/bar?x=1#s)')
  })

  it.each(['javascript:alert(1)', ' JavaScript:void(0)', 'data:text/html,x', 'vbscript:x', 'http://[', 'blob:x'])(
    'to nowhere leave their text: %s',
    async (href) => expect(await markdown(`<p>a <a href="${href}">b</a> c`)).toBe('a b c'),
  )

  it('around a card go to its heading', async () => {
    expect(await markdown('<a href="/c"><div><h3>Card</h3><p>Text of it</p></div></a>')).toBe(
      '### [Card](https://site.example/c)\n\nText of it',
    )
  })

  it('that headings carry to themselves go', async () => {
    expect(await markdown('<h2 id=a>Part <a class=anchor href="#a">#</a></h2>')).toBe('## Part')
  })
})

describe('images', () => {
  it('with their bytes in the page leave their words', async () => {
    const data = `data:image/png;base64,${'A'.repeat(400_000)}`
    expect(await markdown(`<p>before</p><img src="${data}" alt="The chart"><p>after</p>`)).toBe(
      'before\n\nThe chart\n\nafter',
    )
    expect(await markdown(`<p>before <img src="data:image/png;base64,AA=="> after</p>`)).toBe('before after')
  })

  it.each([
    ['data-src="/lazy.jpg" src="data:image/gif;base64,R0lGOD=="', '/lazy.jpg'],
    ['srcset="/s.jpg 1x, /l.jpg 2x"', '/s.jpg'],
    ['data-original="/o.jpg"', '/o.jpg'],
  ])('that load late have their source: %s', async (attributes, source) => {
    expect(await markdown(`<p><img ${attributes} alt="a">`)).toBe(`![a](https://site.example${source})`)
  })

  it.each(['/i.png', '?i', '../i.png', '//h.example/i.png', 'i.png'])('are absolute: %s', async (source) => {
    const url = new URL(source, 'https://site.example/foo/bar?x=1').href
    expect(await markdown(`<p><img src="${source}" alt="a">`)).toBe(`![a](${url})`)
    expect(await markdown(`<p><img srcset="${source} 2x" alt="a">`)).toBe(`![a](${url})`)
  })

  it('of one pixel go', async () => expect(await markdown('<p>a<img src="/p.gif" width=1 height=1>b')).toBe('ab'))
})

describe('tables', () => {
  it('have no more columns for a pipe in a cell', async () => {
    const cells = '<td>a | b<td><code>c | d</code><td><a href="/e|f">e | f</a><td><img src="/g" alt="g|h">'
    const lines = (await markdown(`<table><tr><th>1<th>2<th>3<th>4<tr>${cells}</table>`)).split('\n')
    expect(lines[2]).toBe(
      '| a \\| b | `c \\| d` | [e \\| f](https://site.example/e%7Cf) | ![g¦h](https://site.example/g) |',
    )
  })

  it('keep their columns in line where cells span', async () => {
    const rows = '<tr><th>K<th colspan=2>Span<tr><td rowspan=2>rs<td>p<td>q<tr><td>s<td>t'
    expect(await markdown(`<table>${rows}</table>`)).toMatch(
      /\| K \| Span \| +\|\n.*\n\| rs \| p \| q \|\n\| +\| s \| t \|/,
    )
  })

  it('keep blocks and lists on the line of their cell', async () => {
    const page = '<table><tr><th>A<th>B<tr><td><p>x</p><p>y</p><td><ul><li>1<li>2</ul></table>'
    expect(await markdown(page)).toContain('| x<br>y | • 1<br>• 2 |')
  })

  it('keep code in a cell, a span for each line', async () => {
    expect(await markdown('<table><tr><th>A<tr><td><pre>a | b\nc</pre></table>')).toContain('| `a \\| b`<br>`c` |')
  })

  it('have a first row as wide as their widest, so that readers drop no cell', async () => {
    expect(await markdown('<table><tr><th>A<th>B<tr><td>1<td>2<td>3</table>')).toMatch(
      /^\| A \| B \| +\|\n\| --- \| --- \| --- \|\n\| 1 \| 2 \| 3 \|$/,
    )
  })

  it('write code that no mark can write as HTML', async () => {
    expect(await markdown('<table><tr><th>A<tr><td><code>a\\|b*</code></table>')).toContain(
      '| <code>a&#92;&#124;b&#42;</code> |',
    )
  })

  it('have their caption before them, and their alignment', async () => {
    const page = '<table><caption>Depths of 2024</caption><tr><th align=left>K<th align=right>V<tr><td>a<td>1</table>'
    expect(await markdown(page)).toMatch(/^Depths of 2024\n\n\| K \| V \|\n\| :-+ \| -+: \|\n\| a \| 1 \|$/)
  })

  it('keep their rows if they are all that a page has', async () => {
    const rows = Array.from({ length: 50 }, (_, row) => `<tr><td class="header">r${row}<td>${row}`).join('')
    const content = await markdown(`<table><tr><th class="header">K<th class="header">V${rows}</table>`, {
      mode: 'auto',
    })
    expect(content.split('\n')).toHaveLength(52)
  })

  it('that only place things become blocks', async () => {
    const inner = '<table><tr><th>A<th>B<tr><td>1<td>2</table>'
    expect(await markdown(`<table><tr><td><p>left</p><td>${inner}</table>`)).toMatch(
      /^left\n+\| A \| B \|\n\| --- \| --- \|\n\| 1 \| 2 \|$/,
    )
    expect(await markdown('<table><tr><td><h2>Head</h2><p>Text</table>')).toBe('## Head\n\nText')
  })

  it('bound what spans may add', async () => {
    const page = `<table>${'<tr>' + '<td colspan=1000 rowspan=1000>x'.repeat(50)}${'<tr><td>y'.repeat(500)}</table>`
    expect((await markdown(page)).length).toBeLessThan(500_000)
  })
})

describe('code', () => {
  const code = 'if a:\n\n\treturn `x` <b> & \\_ * | \uD83D\uDE00\n        deep  '

  it.each(['full', 'auto'] as const)('comes out as it went in (mode %s)', async (mode) => {
    const escaped = code.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const page = `<main><p>${PROSE}</p><pre><code class="language-python">\n${escaped}\n</code></pre><p>${PROSE}</p></main>`
    expect(await markdown(page, { mode })).toContain(`\`\`\`python\n${code}\n\`\`\``)
  })

  it('keeps the words that a highlighter calls comments', async () => {
    const spans = '<span class="hljs-comment comment">// why</span>\n<span class="sidebar">a</span>'
    const page = `<article><p>${PROSE}</p><pre><code>${spans}</code></pre><p>${PROSE}</p></article>`
    expect(await markdown(page, { mode: 'article' })).toContain('```\n// why\na\n```')
  })

  it.each([
    ['<pre class="lang-sh">x</pre>', 'sh'],
    ['<pre data-lang="rust">x</pre>', 'rust'],
    ['<div class="highlight highlight-source-ts"><pre>x</pre></div>', 'ts'],
    ['<pre class="brush: java">x</pre>', 'java'],
    ['<pre class="code-block"><code>x</code></pre>', ''],
  ])('names its language: %s', async (html, language) =>
    expect(await markdown(html)).toBe(`\`\`\`${language}\nx\n\`\`\``),
  )

  it('stands in its list item and its quote', async () => {
    expect(await markdown('<ol><li>one <pre>a\n b</pre><li>two</ol>')).toBe(
      '1. one\n\n   ```\n   a\n    b\n   ```\n2. two',
    )
    expect(await markdown('<blockquote><p>q</p><pre>a\nb</pre></blockquote>')).toBe('> q\n>\n> ```\n> a\n> b\n> ```')
  })

  it('stays a block in a table that only places things', async () => {
    expect(await markdown('<table><tr><td><pre>a\n b</pre></table>')).toBe('```\na\n b\n```')
  })

  it('with links in it has a span in each of them', async () => {
    expect(await markdown('<p><code>Vec&lt;<a href="/t">T</a>&gt;</code>')).toBe('Vec<[`T`](https://site.example/t)>')
  })

  it('in a line has marks around its own marks', async () => {
    expect(await markdown('<p><code>a `b` c</code> <kbd>`</kbd> <code>snake_case</code>')).toBe(
      '``a `b` c`` `` ` `` `snake_case`',
    )
  })
})

describe('emphasis', () => {
  it.each([
    ['<b> a </b>b', '**a** b'],
    ['<b>a</b><b>b</b>', '**ab**'],
    ['<b>a <b>b</b></b>', '**a b**'],
    ['<i>a</i>b', '*a*b'],
    ['<i>"a"</i>b', '"a"b'],
    ['<b>a <i>b</i></b>', '**a *b***'],
    ['<b><br></b>a', 'a'],
    ['<b>a<br>b</b>', '**a  \nb**'],
    ['<b>a<br><br>b</b>', 'a  \n\nb'],
    ['<a href="/x">a<br><br>b</a>', '[a b](https://site.example/x)'],
    ['<code>a <b>b</b></code>', '`a b`'],
  ])('has its marks where they are read: %s', async (html, expected) => {
    expect(await markdown(`<p>${html}</p>`)).toBe(expected)
  })
})

it('emphasis around blocks leaves their text', async () => {
  expect(await markdown('<b><p>one</p><p>two</p></b>')).toBe('one\n\ntwo')
  expect(await markdown('<i><ul><li>one</ul></i>')).toBe('- one')
})

describe('a line that begins like a mark', () => {
  it.each(['# a', '- a', '+ a', '1. a', '2) a', '> a', '===', '---', '~~~'])('stays text: %s', async (text) => {
    const escaped = /^\d/.test(text) ? text.replace(/[.)]/, '\\$&') : `\\${text}`
    expect(await markdown(`<p>${text.replace('>', '&gt;')}</p>`)).toBe(escaped)
    expect(await markdown(`<ul><li><p>x</p><p>${text.replace('>', '&gt;')}</p></ul>`)).toBe(`- x\n\n  ${escaped}`)
  })
})

it('an exclamation mark before a link makes no image of it', async () => {
  expect(await markdown('<p>Go!<a href="/x">x</a>')).toBe('Go\\![x](https://site.example/x)')
})

describe('MathML without TeX is a line of text', () => {
  it.each([
    ['<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>', '(a+b)/2'],
    ['<msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><msqrt><mi>y</mi></msqrt>', 'x^2=√y'],
    ['<msubsup><mi>x</mi><mn>1</mn><mrow><mn>2</mn><mi>n</mi></mrow></msubsup>', 'x_1^(2n)'],
    [
      '<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>',
      '1, 2; 3',
    ],
    ['<semantics><mi>z</mi><annotation-xml><mi>no</mi></annotation-xml></semantics>', 'z'],
  ])('%s', async (mathml, text) => {
    expect(await markdown(`<p>so <math>${mathml}</math>.`, { mode: 'text' })).toBe(`so ${text}.`)
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
  ])('%s', async (html, expected) => expect(await markdown(html)).toBe(expected))

  it('footnotes are notes of Markdown', async () => {
    const notes = '<ol><li id="fn1"><p>The note. <a href="#fnref1" class="footnote-backref">↩</a></p></li></ol>'
    expect(await markdown(`<p>Claim<sup id="fnref1"><a href="#fn1">1</a></sup> stands.</p>${notes}`)).toBe(
      'Claim[^1] stands.\n\n[^1]: The note.',
    )
  })

  it('KaTeX is its TeX, once', async () => {
    const annotation = '<annotation encoding="application/x-tex">e^x</annotation>'
    const katex = `<span class="katex"><span class="katex-mathml"><math>${annotation}</math></span><span class="katex-html">ex</span></span>`
    expect(await markdown(`<p>Euler: ${katex}.`)).toBe('Euler: $e^x$.')
    expect(await markdown(`<p>Euler: ${katex}.`, { mode: 'text' })).toBe('Euler: $e^x$.')
  })

  it('a page cannot forge what is held back', async () => {
    expect(await markdown('<p>\uFDD00\uFDD1 <code>a</code>')).toBe('0 `a`')
  })
})

describe('pages that need a repair', () => {
  it('show what React streamed last in its place', async () => {
    const page = '<div id=a><template id="B:0"></template></div><p>end</p><div hidden id="S:0"><p>late</p></div>'
    expect(await markdown(page)).toBe('late\n\nend')
  })

  it('show what they send to programs without scripts', async () => {
    const forum = `<div id=app>Loading</div><noscript><div><h1>Topic</h1><p>${PROSE}</p></div></noscript>`
    expect(await markdown(forum, { mode: 'auto' })).toContain('Enough words')
  })

  it('do not show a notice about scripts', async () => {
    expect(await markdown('<p>Text</p><noscript>Please enable JavaScript.</noscript>')).toBe('Text')
  })
})

describe('the main content', () => {
  it('keeps paragraphs whose names sound like a frame', async () => {
    const page = `<body><p class="MsoHeader">First. ${PROSE}</p><div id="gdpr-intro">Second. ${PROSE}</div><div class="footer-note">Third. ${PROSE}</div>`
    const content = await markdown(page, { mode: 'auto' })
    for (const word of ['First', 'Second', 'Third']) expect(content).toContain(word)
  })

  it('keeps a page that stands in an unclosed aside, or is hidden until scripts run', async () => {
    expect(await markdown(`<aside><h2>Box</h2><p>${PROSE}</p><p>${PROSE}</p>`, { mode: 'auto' })).toContain(
      'Enough words',
    )
    expect(await markdown(`<body><div style="display:none"><p>${PROSE}</p></div>`, { mode: 'auto' })).toContain(
      'Enough words',
    )
  })

  it('is cut from its frame without a mark of its own', async () => {
    const links = '<ul class="menu"><li><a href="/a">Alpha</a><li><a href="/b">Beta</a></ul>'
    const content = await markdown(`${links}<h1>Title</h1><p>${PROSE}</p><p>${PROSE}</p><footer>Imprint</footer>`, {
      mode: 'auto',
    })
    expect(content).toContain('# Title')
    expect(content).not.toMatch(/Alpha|Imprint/)
  })
})

it('6,000 levels hide no text', async () => {
  const page = `${'<div>'.repeat(6_000)}<p>deep text</p>${'</div>'.repeat(6_000)}`
  expect(await markdown(page)).toBe('deep text')
})
