import { type DomElement, type DomNode, isElement, isText } from './nodes.ts'

/** Characters of text under an element, blanks not counted. */
export interface TextSize {
  readonly text: number
  /** Those of `text` that stand in links. */
  readonly linked: number
}

const NONE: TextSize = { text: 0, linked: 0 }
const UNREAD = new Set(['script', 'style', 'template'])

/** Sizes of all elements under `root` at the time of the call, in one pass over the tree. */
export function measureText(root: DomElement): (element: DomElement) => TextSize {
  const sizes = new Map<DomNode, { text: number; linked: number }>()
  const stack: { readonly element: DomElement; readonly inLink: boolean; open: boolean }[] = [
    { element: root, inLink: false, open: false },
  ]
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const { element } = frame
    if (frame.open) {
      stack.pop()
      const own = sizes.get(element)
      const parent = element.parentNode === null ? undefined : sizes.get(element.parentNode)
      if (own && parent && element !== root) {
        parent.text += own.text
        parent.linked += own.linked
      }
      continue
    }
    frame.open = true
    const inLink = frame.inLink || element.localName === 'a'
    const size = { text: 0, linked: 0 }
    sizes.set(element, size)
    if (UNREAD.has(element.localName)) continue
    for (let child = element.firstChild; child !== null; child = child.nextSibling) {
      if (isText(child)) size.text += child.data.replaceAll(/\s+/g, '').length
      else if (isElement(child)) stack.push({ element: child, inLink, open: false })
    }
    if (inLink) size.linked = size.text
  }
  return (element) => sizes.get(element) ?? NONE
}
