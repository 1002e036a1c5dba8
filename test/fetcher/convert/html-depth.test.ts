import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import { DOM_CAPS, parsePage } from '../../../src/fetcher/convert/html/dom.ts'
import type { DomElement } from '../../../src/fetcher/convert/html/nodes.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

const LEVELS = 600
const WARNING = expect.stringContaining('placed side by side') as string
const deep = (html: string, levels = LEVELS) => `${'<div>'.repeat(levels)}${html}${'</div>'.repeat(levels)}`

async function run(html: string, mode: Mode = 'full') {
  const conversion = await convert({
    body: Buffer.from(html),
    url: 'https://site.example/',
    contentType: 'text/html',
    mode,
  })
  if ('failure' in conversion) throw new Error(conversion.failure.message)
  return conversion
}

describe('text below the deepest level stays in order and in its elements:', () => {
  it.each([
    [
      'inline elements',
      '<p>one <b>two</b> three <a href="/4">four</a> five</p>',
      'one **two** three [four](https://site.example/4) five',
    ],
    ['blocks', '<h2>A</h2><p>b</p><ul><li>c<li>d</ul>', '## A\n\nb\n\n- c\n- d'],
    ['a table', '<table><tr><th>a<th>b<tr><td>1<td>2</table>', '| a | b |\n| --- | --- |\n| 1 | 2 |'],
    ['text before a table that was in it', '<table>a<tr><td>b</table>c', 'a\n\nb\n\nc'],
    ['formats that overlap blocks', '<b>a<p>b<i>c</i>d</b>e</p>f', '**a**\n\n**b*c*d**e\n\nf'],
  ])('%s', async (_what, html, content) => {
    expect(await run(deep(html))).toMatchObject({ content, warnings: [WARNING] })
    expect(await run(deep(html, 400))).toMatchObject({ content, warnings: [] })
  })

  it('blocks with text of their own on both sides', async () => {
    const html = Array.from({ length: LEVELS }, (_, level) => `<div>open${level}`).join('')
    const ends = Array.from({ length: LEVELS }, (_, level) => `close${level}</div>`).join('')
    const expected = html.match(/open\d+/g)?.concat(ends.match(/close\d+/g) ?? [])
    for (const mode of ['full', 'auto', 'text', 'html'] as const) {
      const { content, warnings } = await run(`${html}<p>bottom</p>${ends}`, mode)
      expect(content.match(/(?:open|close)\d+/g)).toEqual(expected)
      expect(content).not.toMatch(/\d(?:open|close)/)
      expect(warnings).toEqual([WARNING])
    }
  })

  it('a link around too many levels', async () => {
    const html = `<a href="/l">start ${'<span>'.repeat(LEVELS)}deep${'</span>'.repeat(LEVELS)} end</a>`
    expect((await run(html)).content).toBe('[start deep end](https://site.example/l)')
  })
})

describe('a parsed page', () => {
  const caps = { ...DOM_CAPS, depthMax: 70 }
  const TAGS = ['div', 'p', 'b', 'a', 'i', 'table', 'tr', 'td', 'ul', 'li', 'select', 'span']
  const piece = fc.oneof(
    fc.constantFrom(...TAGS).chain((tag) => fc.integer({ min: 1, max: 90 }).map((times) => `<${tag}>`.repeat(times))),
    fc.constantFrom(...TAGS).map((tag) => `</${tag}>`),
    fc.stringMatching(/^[a-z ]{1,4}$/),
  )

  it('has all text in order and no more levels than allowed, however it is nested', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const source = pieces.join('')
        const flat = parsePage(source, caps)
        const whole = parsePage(source, { ...caps, depthMax: 10_000 })
        expect(flat.document.body.textContent).toBe(whole.document.body.textContent)
        expect(levelsOf(flat.document.documentElement)).toBeLessThanOrEqual(caps.depthMax)
        expect(flat.flattened).toBe(levelsOf(whole.document.documentElement) > caps.depthMax)
      }),
      { numRuns: 200 },
    )
  })
})

function levelsOf(root: DomElement): number {
  let levels = 0
  let level = [root]
  for (; level.length > 0; levels += 1) level = level.flatMap((element) => [...element.children])
  return levels
}
