import { oneLine } from '../../one-line.ts'
import type { HeldText } from '../held-text.ts'
import { all, type DomElement, type DomNode, type DomText, isText, replace, unwrap } from '../nodes.ts'

/**
 * Holds the marks of links and images, so that no blank comes between them and the words beside them. The words of a
 * link stay in the document, to be escaped as any others.
 */
export function holdLinks(root: DomElement, held: HeldText): void {
  const document = root.ownerDocument
  for (const image of all(root, 'img')) {
    const alternative = oneLine(image.getAttribute('alt') ?? '')
    const mark = `![${escaped(alternative)}](${destination(image.getAttribute('src') ?? '')})`
    replace(image, document.createTextNode(held.inline(mark)))
  }
  for (const link of all(root, 'a[href]')) {
    for (const lineBreak of all(link, 'br')) replace(lineBreak, document.createTextNode(' '))
    holdBrackets(link, held)
    holdBang(link, held)
    const href = destination(link.getAttribute('href') ?? '')
    link.insertBefore(document.createTextNode(held.inline('[')), link.firstChild)
    link.appendChild(document.createTextNode(held.inline(`](${href})`)))
    unwrap(link)
  }
}

/** A bracket in the words would begin or end a link of its own. */
function holdBrackets(link: DomElement, held: HeldText): void {
  const stack: DomNode[] = [link]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (isText(node)) node.data = node.data.replaceAll(/[[\]]/g, (bracket) => held.inline(`\\${bracket}`))
    for (let child = node.firstChild; child !== null; child = child.nextSibling) stack.push(child)
  }
}

/** An exclamation mark right before a link would make an image of it. */
function holdBang(link: DomElement, held: HeldText): void {
  const before = textBefore(link)
  if (before?.data.endsWith('!')) before.data = before.data.slice(0, -1) + held.inline('\\!')
}

/** The text that ends where an element begins. */
function textBefore(element: DomElement): DomText | undefined {
  let at: DomNode | null = element
  while (at !== null && at.previousSibling === null) at = at.parentNode
  for (at = at?.previousSibling ?? null; at !== null; at = at.lastChild) if (isText(at)) return at
  return undefined
}

const escaped = (text: string): string => text.replaceAll(/[\\`*_[\]<>]/g, '\\$&')

/** In angle brackets if a sign in it could end it. */
const destination = (url: string): string =>
  /[()\s<>]/.test(url) ? `<${url.replaceAll('<', '%3C').replaceAll('>', '%3E')}>` : url
