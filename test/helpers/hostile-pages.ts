const paragraph = (index: number) =>
  `<p>Paragraph number ${index} of a long page, with <a href="/l${index}">a link</a>, some <b>bold</b> words and enough text, commas, and clauses to look like prose.</p>\n`
const PROSE = Array.from({ length: 20 }, (_, index) => paragraph(index)).join('')
const page = (body: string) => `<!doctype html><html><head><title>t</title></head><body>${body}</body></html>`

const SAYS_ARTICLE = '<meta property="og:type" content="article">'

/** Pages made to cost a converter its time, its memory or its stack. Built when called: some have 10 MB. */
export const HOSTILE_PAGES = {
  'ten megabytes of paragraphs': () => page(`<article>${paragraph(1).repeat(60_000)}</article>`),
  '100,000 levels': () => page(`${'<div>'.repeat(100_000)}${PROSE}`),
  '5,000 levels': () => page(`${'<div>'.repeat(5_000)}${PROSE}${'</div>'.repeat(5_000)}`),
  '5,000 open formats': () => page(`${'<b><i>'.repeat(2_500)}${'text'.repeat(100)}`),
  'attributes of a megabyte': () =>
    page(
      `<article data-x="${'a'.repeat(1e6)}" class="${'b '.repeat(3e5)}" style="${'color:red;'.repeat(1e5)}">${PROSE}</article>`,
    ),
  '200,000 blocks': () => page('<div class="x">a</div>'.repeat(200_000)),
  '15,000 links': () => page(`<ul>${'<li><a href="/x">link text</a></li>'.repeat(15_000)}</ul>`),
  '10,000 rows': () => page(`<table>${'<tr><td>a</td><td>b</td><td>c</td></tr>'.repeat(10_000)}</table>`),
  '2,000 tables in tables': () => page(`${'<table><tr><td>'.repeat(2_000)}x${'</td></tr></table>'.repeat(2_000)}`),
  'nothing closed': () =>
    `<html><body>${'<p><table><tr><td><a href=x><b><div><li><select><option>'.repeat(2_000)}<tr><td>text, more text, and more.`,
  NULs: () => page(`<arti\0cle><p>null\0byte text, with commas, here\0.</p>${PROSE}</article>`) + '\0'.repeat(1_000),
  'a million signs': () => page(`<article>${PROSE}</article>${'<'.repeat(1e6)}`),
  'comments that never end': () => page('<!--'.repeat(200_000) + PROSE),
  'a megabyte of entities': () => page(`<p>${'&amp;&lt;&#x1F600;&notanentity;'.repeat(40_000)}</p>`),
  'two megabytes of blanks': () => page(`<article><p>${' \n\t'.repeat(700_000)}x</p>${PROSE}</article>`),
  'a megabyte of marks': () => page(`<article><p>${'*_`[]('.repeat(150_000)}</p>${PROSE}</article>`),
  'five megabytes of code': () =>
    page(
      `<article><pre><code class="language-js">${'const a = `1`; // line\n'.repeat(220_000)}</code></pre>${PROSE}</article>`,
    ),
  'JSON-LD without end': () =>
    `<html><head><script type="application/ld+json">${'['.repeat(200_000)}</script><script type="application/ld+json">{"@type":"Article","articleBody":"${'x '.repeat(1e6)}"}</script></head><body><article>${PROSE}</article></body></html>`,
  'a title of a megabyte': () =>
    `<title>${'page | '.repeat(150_000)}</title><h1>${'page not '.repeat(50_000)}</h1>${PROSE}`,
  '40,000 emphasised words side by side': () =>
    page(`<article>${PROSE}<p>${'<b>x</b>y<i>z</i>'.repeat(20_000)}</p></article>`),
  '25,000 dates in a paragraph': () =>
    `${SAYS_ARTICLE}<article><p>${'<span class="date">x</span> word '.repeat(25_000)}</p>${PROSE}</article>`,
  'blocks in blocks that sound like additions': () =>
    `${SAYS_ARTICLE}<article>${PROSE}${'<div class="date related">'.repeat(400)}${'<a href="/x">the title of a thing</a> '.repeat(10_000)}${'</div>'.repeat(400)}${PROSE}</article>`,
  'formulas in formulas': () =>
    page(`<article>${'<math><mfrac>'.repeat(250)}${'<mi>x</mi>'.repeat(20_000)}</mfrac></math>${PROSE}</article>`),
} satisfies Record<string, () => string>
