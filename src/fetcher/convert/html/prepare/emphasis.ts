import type { HeldText } from '../held-text.ts'
import { all, ancestor, type DomElement, type DomNode, isElement, isText, moveChildren, unwrap } from '../nodes.ts'

const EMPHASIS = 'em,i,strong,b,del,s,strike'
/** The marks of each element. */
const MARKS: Readonly<Record<string, string>> = {
  em: '*',
  i: '*',
  strong: '**',
  b: '**',
  del: '~~',
  s: '~~',
  strike: '~~',
}
const INLINE = new Set(
  'a abbr b bdi bdo cite code del dfn em i ins kbd q s samp small span strike strong sub sup u var'.split(' '),
)
const LINES =
  'p,div,ul,ol,li,dl,h1,h2,h3,h4,h5,h6,table,blockquote,pre,section,article,header,footer,aside,figure,hr,br + br'
const CODE = new Set(['pre', 'code', 'kbd', 'samp', 'tt'])
const STARTS_IN_WORD = /^[\p{L}\p{N}]/u
const ENDS_IN_WORD = /[\p{L}\p{N}]$/u

/**
 * Writes emphasis as held marks. In Markdown they must touch a word or a blank on the outside, a word or more marks on
 * the inside, and none of their like; emphasis that cannot be written so is left out, for a stray mark is worse.
 */
export function holdEmphasis(root: DomElement, held: HeldText): void {
  for (const element of all(root, EMPHASIS))
    if (isRepeated(element) || isEmpty(element) || ancestor(element, CODE) || holdsLines(element)) unwrap(element)
  for (const element of all(root, EMPHASIS)) mergeNext(element)
  for (const element of all(root, EMPHASIS).toReversed()) {
    moveEdge(element, 'start')
    moveEdge(element, 'end')
  }
  for (const element of all(root, EMPHASIS)) if (!isReadable(element)) unwrap(element)
  for (const element of all(root, EMPHASIS)) {
    const mark = held.inline(marksOf(element) ?? '')
    const document = element.ownerDocument
    element.insertBefore(document.createTextNode(mark), element.firstChild)
    element.appendChild(document.createTextNode(mark))
    unwrap(element)
  }
}

const marksOf = (node: DomNode | null): string | undefined =>
  node !== null && isElement(node) ? MARKS[node.localName] : undefined

/** Marks do not reach from one paragraph into the next. */
const holdsLines = (element: DomElement) => element.querySelector(LINES) !== null

const isEmpty = (element: DomElement) => !/\S/.test(element.textContent ?? '')

/** Whether one above has the same marks. */
function isRepeated(element: DomElement): boolean {
  const marks = marksOf(element)
  for (let at = element.parentElement; at !== null; at = at.parentElement) if (marksOf(at) === marks) return true
  return false
}

/** Takes in what follows with the same marks. */
function mergeNext(element: DomElement): void {
  for (let next = element.nextSibling; next !== null; next = element.nextSibling) {
    if (marksOf(next) !== marksOf(element)) return
    moveChildren(next as DomElement, element)
    next.remove()
  }
}

/** Moves blanks at an edge out of the element. */
function moveEdge(element: DomElement, edge: 'start' | 'end'): void {
  const node = edge === 'start' ? element.firstChild : element.lastChild
  if (node === null || !isText(node)) return
  const blank = (edge === 'start' ? /^\s+/ : /\s+$/).exec(node.data)?.[0]
  if (blank === undefined) return
  node.data = edge === 'start' ? node.data.slice(blank.length) : node.data.slice(0, -blank.length)
  const outside = element.ownerDocument.createTextNode(' ')
  element.parentNode?.insertBefore(outside, edge === 'start' ? element : element.nextSibling)
}

function isReadable(element: DomElement): boolean {
  const before = outside(element, 'before')
  const after = outside(element, 'after')
  if (before === 'mark' || after === 'mark') return false
  const opens = before !== 'word' || inside(element, 'start') === 'word'
  const closes = after !== 'word' || inside(element, 'end') === 'word'
  return opens && closes
}

/** What stands right beside an element. `mark`: other emphasis. `other`: a blank, punctuation, or nothing. */
function outside(element: DomElement, side: 'before' | 'after'): 'word' | 'mark' | 'other' {
  for (let at: DomNode = element; ;) {
    const sibling = side === 'before' ? at.previousSibling : at.nextSibling
    if (sibling !== null) {
      if (isText(sibling) && sibling.data === '') at = sibling
      else if (isText(sibling)) return kindOf(sibling.data, side === 'before' ? 'end' : 'start')
      else return marksOf(sibling) === undefined ? 'other' : 'mark'
    } else {
      const parent = at.parentNode
      if (parent === null || !isElement(parent) || !INLINE.has(parent.localName) || marksOf(parent)) return 'other'
      at = parent
    }
  }
}

/** What an element begins or ends with. */
function inside(element: DomElement, edge: 'start' | 'end'): 'word' | 'other' {
  const node = edge === 'start' ? element.firstChild : element.lastChild
  return node !== null && isText(node) ? kindOf(node.data, edge) : 'other'
}

const kindOf = (text: string, edge: 'start' | 'end'): 'word' | 'other' =>
  (edge === 'start' ? STARTS_IN_WORD.test(text) : ENDS_IN_WORD.test(text.slice(-2))) ? 'word' : 'other'
