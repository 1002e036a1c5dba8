import { parseHTML } from 'linkedom'
import { type DefaultTreeAdapterMap, defaultTreeAdapter, html as spec, parse, type TreeAdapter } from 'parse5'

import { flatten } from './flatten.ts'
import type { DomDocument, DomElement, DomParent } from './nodes.ts'

/** What a page may cost before it is cut. */
export interface DomCaps {
  /** Levels of nesting; what stands deeper is placed side by side. */
  readonly depthMax: number
  readonly elementsMax: number
  /** Characters of an attribute; a longer one is left out. */
  readonly attributeLengthMax: number
  /** The same for `class`, `id` and `style`, which are matched over and over. */
  readonly nameLengthMax: number
}

export const DOM_CAPS: DomCaps = {
  depthMax: 512,
  elementsMax: 60_000,
  attributeLengthMax: 65_536,
  nameLengthMax: 2_048,
}

/** For the caller, if `flattened`. */
export const FLATTENED = `More than ${DOM_CAPS.depthMax} levels are nested in one another; the deepest parts were placed side by side.`

export interface ParsedPage {
  readonly document: DomDocument
  readonly elements: number
  /** False if the page has more elements than the cap: the document then holds the first of them. */
  readonly complete: boolean
  /** True if the page has more levels than the cap: the document then has all of its text, with fewer elements around it. */
  readonly flattened: boolean
}

/**
 * Parses HTML by the rules of browsers, without scripting, into a DOM.
 *
 * parse5 builds the tree because linkedom's own parser loses text on broken markup; linkedom then holds a copy because
 * parse5's trees have no selectors. Comments, event handlers and what is inside `template` do not get in.
 */
export function parsePage(source: string, caps: DomCaps = DOM_CAPS): ParsedPage {
  const { tree, count, complete } = parseTree(source, caps.elementsMax)
  const flattened = flatten(tree, caps.depthMax)
  const document = emptyDocument()
  copyTree(tree, document, caps)
  if (document.firstChild === null) document.appendChild(document.createElement('html'))
  return { document, elements: count, complete, flattened }
}

class ElementCapError extends Error {}

/** The tree of a page; of one with too many elements, as it stands when the first of them are placed. */
function parseTree(source: string, elementsMax: number) {
  const tree = defaultTreeAdapter.createDocument()
  let count = 0
  const treeAdapter: TreeAdapter<DefaultTreeAdapterMap> = {
    ...defaultTreeAdapter,
    createDocument: () => tree,
    createElement(...element) {
      if (count === elementsMax) throw new ElementCapError()
      count += 1
      return defaultTreeAdapter.createElement(...element)
    },
    appendChild(parent, node) {
      if (!defaultTreeAdapter.isCommentNode(node)) defaultTreeAdapter.appendChild(parent, node)
    },
    setDocumentType() {},
  }
  try {
    parse(source, { treeAdapter, scriptingEnabled: false })
    return { tree, count, complete: true }
  } catch (error) {
    if (!(error instanceof ElementCapError)) throw error
    return { tree, count, complete: false }
  }
}

function emptyDocument(): DomDocument {
  const { document } = parseHTML('<!doctype html><html></html>') as unknown as { document: DomDocument }
  document.documentElement.remove()
  return document
}

type TreeParent = DefaultTreeAdapterMap['parentNode']
type TreeElement = DefaultTreeAdapterMap['element']

function copyTree(tree: TreeParent, document: DomDocument, caps: DomCaps): void {
  const open: { readonly from: TreeParent; readonly to: DomParent; next: number }[] = [
    { from: tree, to: document, next: 0 },
  ]
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const node = at.from.childNodes[at.next]
    at.next += 1
    if (node === undefined) open.pop()
    else if (defaultTreeAdapter.isTextNode(node)) at.to.appendChild(document.createTextNode(node.value))
    else if (defaultTreeAdapter.isElementNode(node)) {
      const to = copyElement(node, document, caps)
      at.to.appendChild(to)
      open.push({ from: node, to, next: 0 })
    }
  }
}

const SAFE_TAG = /^[A-Za-z_][\w:.-]*$/
const SAFE_ATTRIBUTE = /^[^\s"'<>/=\0]+$/
const MATCHED_ATTRIBUTES = new Set(['class', 'id', 'style'])

function copyElement({ tagName, namespaceURI, attrs }: TreeElement, document: DomDocument, caps: DomCaps): DomElement {
  const name = SAFE_TAG.test(tagName) ? tagName : 'x-invalid'
  const isHtml = namespaceURI === spec.NS.HTML
  const element = isHtml ? document.createElement(name) : document.createElementNS(namespaceURI, name)
  for (const attribute of attrs) {
    const full = attribute.prefix ? `${attribute.prefix}:${attribute.name}` : attribute.name
    const lengthMax = MATCHED_ATTRIBUTES.has(attribute.name) ? caps.nameLengthMax : caps.attributeLengthMax
    const isLeftOut = attribute.value.length > lengthMax || attribute.name.startsWith('on')
    if (!isLeftOut && SAFE_ATTRIBUTE.test(full)) element.setAttribute(full, attribute.value)
  }
  return element
}
