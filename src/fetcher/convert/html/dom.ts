import { parseHTML } from 'linkedom'
import { html as spec, parse, type Token, type TreeAdapter, type TreeAdapterTypeMap } from 'parse5'

import {
  type DomDocument,
  type DomElement,
  type DomNode,
  type DomParent,
  type DomText,
  isElement,
  isText,
} from './nodes.ts'

/** What a page may cost before it is cut. */
export interface DomCaps {
  /** Levels of nesting; deeper elements become siblings at the last level, as in browsers. */
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

/** `complete` is false if the page has more elements than the cap: the document then holds the first of them. */
export interface ParsedPage {
  readonly document: DomDocument
  readonly elements: number
  readonly complete: boolean
}

/**
 * Parses HTML by the rules of browsers, without scripting, into a DOM.
 *
 * parse5 builds the tree because linkedom's own parser loses text on broken markup; linkedom holds it because parse5's
 * trees have no selectors. Comments, event handlers and what is inside `template` do not get in.
 */
export function parsePage(source: string, caps: DomCaps = DOM_CAPS): ParsedPage {
  const document = emptyDocument()
  const builder = createBuilder(document, caps)
  let complete = true
  try {
    parse(source, { treeAdapter: builder.adapter, scriptingEnabled: false })
  } catch (error) {
    if (!(error instanceof ElementCapError)) throw error
    complete = false
  }
  if (document.firstChild === null) document.appendChild(document.createElement('html'))
  return { document, elements: builder.elements(), complete }
}

class ElementCapError extends Error {}

function emptyDocument(): DomDocument {
  const { document } = parseHTML('<!doctype html><html></html>') as unknown as { document: DomDocument }
  document.documentElement.remove()
  return document
}

type Types = TreeAdapterTypeMap<
  DomNode,
  DomParent,
  DomNode,
  DomDocument,
  DomParent,
  DomElement,
  DomNode,
  DomText,
  DomElement,
  DomNode
>

/** What parse5 asks about an element it has made, and linkedom would not tell as it was given. */
interface Facts {
  readonly tag: string
  readonly namespace: spec.NS
  readonly attributes: Token.Attribute[]
  depth: number
}

const DOCTYPE_NODE = 10
const SAFE_TAG = /^[A-Za-z_][\w:.-]*$/
const SAFE_ATTRIBUTE = /^[^\s"'<>/=\0]+$/
const MATCHED_ATTRIBUTES = new Set(['class', 'id', 'style'])

function createBuilder(document: DomDocument, caps: DomCaps) {
  const facts = new Map<DomNode, Facts>()
  const templates = new Map<DomElement, DomParent>()
  const comment = document.createComment('')
  let mode = spec.DOCUMENT_MODE.NO_QUIRKS
  let count = 0

  const depthOf = (node: DomNode): number => facts.get(node)?.depth ?? 0
  /** The lowest ancestor that may still have children. */
  const host = (parent: DomParent): DomParent => {
    let at = parent
    while (depthOf(at) >= caps.depthMax && at.parentNode !== null) at = at.parentNode
    return at
  }
  const place = (node: DomNode, parent: DomParent) => {
    const fact = facts.get(node)
    if (fact) fact.depth = depthOf(parent) + 1
  }
  const setAttributes = (element: DomElement, attributes: readonly Token.Attribute[]) => {
    for (const { name, prefix, value } of attributes) {
      const full = prefix ? `${prefix}:${name}` : name
      const lengthMax = MATCHED_ATTRIBUTES.has(name) ? caps.nameLengthMax : caps.attributeLengthMax
      if (value.length > lengthMax || name.startsWith('on') || !SAFE_ATTRIBUTE.test(full)) continue
      if (!element.hasAttribute(full)) element.setAttribute(full, value)
    }
  }

  const adapter: TreeAdapter<Types> = {
    createDocument: () => document,
    createDocumentFragment: () => document.createDocumentFragment(),
    createElement(tag, namespace, attributes) {
      count += 1
      if (count > caps.elementsMax) throw new ElementCapError()
      const name = SAFE_TAG.test(tag) ? tag : 'x-invalid'
      const element =
        namespace === spec.NS.HTML ? document.createElement(name) : document.createElementNS(namespace, name)
      facts.set(element, { tag, namespace, attributes, depth: 0 })
      setAttributes(element, attributes)
      return element
    },
    createCommentNode: () => comment,
    createTextNode: (data) => document.createTextNode(data),
    appendChild(parent, node) {
      if (node === comment) return
      const under = isElement(node) ? host(parent) : parent
      place(node, under)
      under.appendChild(node)
    },
    insertBefore(parent, node, reference) {
      if (node === comment) return
      const under = reference.parentNode ?? parent
      place(node, under)
      under.insertBefore(node, reference)
    },
    insertText(parent, text) {
      const last = parent.lastChild
      if (last !== null && isText(last)) last.data += text
      else parent.appendChild(document.createTextNode(text))
    },
    insertTextBefore(parent, text, reference) {
      const before = reference.previousSibling
      if (before !== null && isText(before)) before.data += text
      else (reference.parentNode ?? parent).insertBefore(document.createTextNode(text), reference)
    },
    adoptAttributes: setAttributes,
    detachNode: (node) => node.remove(),
    setTemplateContent: (template, content) => void templates.set(template, content),
    getTemplateContent: (template) => templates.get(template) ?? template,
    setDocumentType() {},
    setDocumentMode(_document, value) {
      mode = value
    },
    getDocumentMode: () => mode,
    getFirstChild: (node) => node.firstChild,
    getChildNodes: (node) => [...node.childNodes],
    getParentNode: (node) => node.parentNode,
    getAttrList: (element) => facts.get(element)?.attributes ?? [],
    getTagName: (element) => facts.get(element)?.tag ?? element.localName,
    getNamespaceURI: (element) => facts.get(element)?.namespace ?? spec.NS.HTML,
    getTextNodeContent: (node) => node.data,
    getCommentNodeContent: () => '',
    getDocumentTypeNodeName: () => '',
    getDocumentTypeNodePublicId: () => '',
    getDocumentTypeNodeSystemId: () => '',
    isTextNode: isText,
    isCommentNode: (node): node is DomNode => node === comment,
    isDocumentTypeNode: (node): node is DomNode => node.nodeType === DOCTYPE_NODE,
    isElementNode: isElement,
    setNodeSourceCodeLocation() {},
    getNodeSourceCodeLocation: () => null,
    updateNodeSourceCodeLocation() {},
  }
  return { adapter, elements: () => Math.min(count, caps.elementsMax) }
}
