import type { HeldText } from '../held-text.ts'
import { all, ancestor, type DomDocument, type DomElement, moveChildren, replace, unwrap } from '../nodes.ts'

/** Holds the boxes of task lists; other form controls are not text. */
export function holdCheckboxes(document: DomDocument, held: HeldText): void {
  for (const box of all(document, 'li input[type=checkbox]')) {
    const mark = box.hasAttribute('checked') ? '[x]' : '[ ]'
    replace(box, document.createTextNode(`${held.inline(mark)} `))
  }
}

const DEFINITIONS = new Set(['dl'])

/** Turns definition lists into lists: the term in bold, its definitions as paragraphs below it. */
export function listDefinitions(root: DomElement): void {
  const document = root.ownerDocument
  for (const definitions of all(root, 'dl')) {
    const list = document.createElement('ul')
    let item: DomElement | undefined
    for (const part of all(definitions, 'dt,dd')) {
      if (ancestor(part, DEFINITIONS) !== definitions) continue
      const isTerm = part.localName === 'dt'
      if (isTerm || !item) list.appendChild((item = document.createElement('li')))
      const block = document.createElement(isTerm ? 'strong' : 'p')
      moveChildren(part, block)
      item.appendChild(block)
    }
    replace(definitions, list)
  }
}

/** Opens what a page folds away: the summary in bold, the rest below it. */
export function openDetails(root: DomElement): void {
  const document = root.ownerDocument
  for (const summary of all(root, 'summary')) {
    const paragraph = document.createElement('p')
    const strong = document.createElement('strong')
    moveChildren(summary, strong)
    paragraph.appendChild(strong)
    replace(summary, paragraph)
  }
  for (const details of all(root, 'details')) unwrap(details)
}
