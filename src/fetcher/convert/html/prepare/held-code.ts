import type { HeldText } from '../held-text.ts'
import { all, ancestor, descendants, type DomElement, lineOf, replace } from '../nodes.ts'

const CELLS = new Set(['td', 'th'])
const CODE = new Set(['code', 'kbd', 'samp', 'tt'])
/** What code would lose by being held: a link in it is worth more than its backticks. */
const KEPT = new Set(['a', 'img'])

/** Holds code, so that it comes out exactly as it stands in the page. In table cells a block becomes a line. */
export function holdCode(root: DomElement, held: HeldText): void {
  const document = root.ownerDocument
  for (const pre of all(root, 'pre')) {
    const text = pre.textContent ?? ''
    if (ancestor(pre, CELLS)) {
      replace(pre, document.createTextNode(held.inline(cellCode(text))))
      continue
    }
    const language = /language-(\S+)/.exec(pre.querySelector('code')?.getAttribute('class') ?? '')?.[1] ?? ''
    const paragraph = document.createElement('p')
    paragraph.appendChild(document.createTextNode(held.block(fence(text, language))))
    replace(pre, paragraph)
  }
  for (const code of all(root, 'code,kbd,samp,tt')) {
    if (ancestor(code, CODE) || descendants(code).some(({ localName }) => KEPT.has(localName))) continue
    const text = lineOf(code)
    const span = text === '' ? '' : codeSpan(text)
    replace(code, document.createTextNode(held.inline(ancestor(code, CELLS) ? span.replaceAll('|', '\\|') : span)))
  }
}

/** A fence that is longer than any run of backticks in the code. */
function fence(text: string, language: string): string {
  const marks = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${marks}${language}\n${text.replaceAll(/^\n|\n+$/g, '')}\n${marks}`
}

function codeSpan(text: string): string {
  const marks = '`'.repeat(longestRun(text) + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${marks}${pad}${text}${pad}${marks}`
}

/** Lines of code in a cell, each a span, since a cell has one line. */
const cellCode = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => codeSpan(line.trimEnd()).replaceAll('|', '\\|'))
    .join('<br>')

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
