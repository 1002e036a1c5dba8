import type { HeldText } from '../held-text.ts'
import { all, ancestor, type DomElement, isElement, isInside, lineOf, moveChildren, replace, unwrap } from '../nodes.ts'

const CELLS = new Set(['td', 'th'])
const CODE = new Set(['code', 'kbd', 'samp', 'tt'])
const SPANS = 'code,kbd,samp,tt'

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
  for (const code of all(root, SPANS)) if (code.querySelector('a,img') !== null) moveIntoLinks(code)
  for (const code of all(root, SPANS)) mergeNext(code)
  for (const code of all(root, SPANS)) {
    if (!isInside(code, root) || ancestor(code, CODE)) continue
    const text = lineOf(code)
    const span = ancestor(code, CELLS) ? cellSpan(text) : codeSpan(text)
    replace(code, document.createTextNode(text === '' ? '' : held.inline(span)))
  }
}

/** A span of code holds no links: each of its links gets a span of its own. */
function moveIntoLinks(code: DomElement): void {
  for (const link of all(code, 'a')) {
    if (link.querySelector('img') !== null) continue
    const inner = code.ownerDocument.createElement('code')
    moveChildren(link, inner)
    link.appendChild(inner)
  }
  unwrap(code)
}

/** Takes in code that follows at once: two spans side by side would be read as one with backticks in it. */
function mergeNext(code: DomElement): void {
  for (
    let next = code.nextSibling;
    next !== null && isElement(next) && CODE.has(next.localName);
    next = code.nextSibling
  ) {
    moveChildren(next, code)
    next.remove()
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

/** A pipe in a cell is written after a backslash. After a backslash of the code's own, only HTML can write it. */
const cellSpan = (text: string): string =>
  text.includes('\\|')
    ? `<code>${text.replaceAll(/[\\`*_~[\]<>&|]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</code>`
    : codeSpan(text).replaceAll('|', '\\|')

/** Lines of code in a cell, each a span, since a cell has one line. */
const cellCode = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => cellSpan(line.trimEnd()))
    .join('<br>')

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
