import { oneLine } from '../one-line.ts'

/**
 * The part of the DOM that the conversion uses, since the compiler runs without the DOM library: linkedom's nodes fit it,
 * as any DOM would. Only what is cheap and iterative in linkedom is listed; `childNodes` there is a fresh array each time.
 */
export interface DomNode {
  readonly nodeType: number
  readonly nodeName: string
  readonly parentNode: DomParent | null
  readonly firstChild: DomNode | null
  readonly lastChild: DomNode | null
  readonly nextSibling: DomNode | null
  readonly previousSibling: DomNode | null
  textContent: string | null
  remove(): void
}

/** A node that can have children. */
export interface DomParent extends DomNode {
  readonly childNodes: Iterable<DomNode>
  appendChild(node: DomNode): DomNode
  insertBefore(node: DomNode, reference: DomNode | null): DomNode
  replaceChild(node: DomNode, old: DomNode): DomNode
  querySelector(selector: string): DomElement | null
  querySelectorAll(selector: string): Iterable<DomElement>
}

export interface DomElement extends DomParent {
  readonly localName: string
  readonly parentElement: DomElement | null
  readonly nextElementSibling: DomElement | null
  readonly children: Iterable<DomElement>
  readonly ownerDocument: DomDocument
  readonly innerHTML: string
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  hasAttribute(name: string): boolean
  removeAttribute(name: string): void
  closest(selector: string): DomElement | null
  matches(selector: string): boolean
}

export interface DomText extends DomNode {
  data: string
}

export interface DomDocument extends DomParent {
  readonly documentElement: DomElement
  readonly head: DomElement
  readonly body: DomElement
  createElement(name: string): DomElement
  createElementNS(namespace: string, name: string): DomElement
  createTextNode(data: string): DomText
  createComment(data: string): DomNode
  createDocumentFragment(): DomParent
  getElementById(id: string): DomElement | null
  cloneNode(deep: boolean): DomDocument
}

const ELEMENT_NODE = 1
const TEXT_NODE = 3

export const isElement = (node: DomNode): node is DomElement => node.nodeType === ELEMENT_NODE
export const isText = (node: DomNode): node is DomText => node.nodeType === TEXT_NODE

/** The elements below `root` that match, as they are now: the caller may move or remove them. */
export const all = (root: DomParent, selector: string): DomElement[] => [...root.querySelectorAll(selector)]

/** The nearest element above with one of these names. Where it is asked often, `closest` costs a compiled selector each time. */
export function ancestor(element: DomElement, names: ReadonlySet<string>): DomElement | undefined {
  for (let at = element.parentElement; at !== null; at = at.parentElement) if (names.has(at.localName)) return at
  return undefined
}

/** The elements below `root` in document order; iterative, and cheaper than a selector on a small tree. */
export function descendants(root: DomElement): DomElement[] {
  const found: DomElement[] = []
  const stack: DomNode[] = []
  const open = (element: DomElement) => {
    for (let child = element.lastChild; child !== null; child = child.previousSibling) {
      if (isElement(child)) stack.push(child)
    }
  }
  open(root)
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (!isElement(node)) continue
    found.push(node)
    open(node)
  }
  return found
}

/** False once an element, or one above it, has been taken out of `root`. */
export function isInside(node: DomNode, root: DomParent): boolean {
  for (let at: DomNode | null = node; at !== null; at = at.parentNode) if (at === root) return true
  return false
}

/** The elements right below, as they are now. */
export const childElements = (element: DomElement): DomElement[] => [...element.children]

/** Moves every child of `from` to the end of `to`. */
export function moveChildren(from: DomParent, to: DomParent): void {
  for (let child = from.firstChild; child !== null; child = from.firstChild) to.appendChild(child)
}

/** Puts the children of an element in its place. */
export function unwrap(element: DomElement): void {
  const parent = element.parentNode
  if (parent === null) return
  for (let child = element.firstChild; child !== null; child = element.firstChild) parent.insertBefore(child, element)
  element.remove()
}

/** Puts `node` in the place of `old`, if `old` is still in a tree. */
export const replace = (old: DomNode, node: DomNode): void => {
  old.parentNode?.replaceChild(node, old)
}

/** The text of a node on one line. */
export const lineOf = (node: DomNode | null | undefined): string => oneLine(node?.textContent ?? '')
