import type { HeldText } from './held-text.ts'
import { type DomElement, type DomNode, isElement, isText } from './nodes.ts'

const names = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/))

/** Elements that come out. What is in any other comes out without it. */
const KEPT = names(
  `a abbr address article aside b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em
  figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark ol p pre q rp rt ruby s samp section
  small span strong sub summary sup table tbody td tfoot th thead time tr u ul var wbr`,
)
/** Elements that go with all that is in them. */
const DROPPED = names(
  `script style template noscript iframe frame frameset object embed applet svg canvas audio video map link meta base
  title head button input select textarea option datalist dialog math`,
)
const VOID = names('br col hr img wbr')
/** Attributes that any element keeps, and those of single ones. */
const GLOBAL = ['lang', 'dir', 'title']
const OWN: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  img: ['src', 'alt', 'width', 'height'],
  ol: ['start', 'reversed', 'type'],
  li: ['value'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan', 'scope'],
  col: ['span'],
  colgroup: ['span'],
  time: ['datetime'],
  details: ['open'],
}
const ADDRESSES: ReadonlySet<string> = new Set(['href', 'src'])
const SAFE_ADDRESS = /^(?:https?|mailto|tel|ftp):/i
const LANGUAGE_CLASS = /(?:^|\s)(language-[\w+#.-]+)/

/**
 * Writes `root` as HTML of listed elements and attributes only: no scripts, styles, forms or handlers, and addresses of
 * harmless schemes. Nothing if there is neither text nor image. Iterative, so that no depth overflows the stack.
 */
export function safeHtml(root: DomElement, held: HeldText): string {
  let html = ''
  let isBare = true
  const stack: (DomNode | string)[] = []
  const open = (element: DomElement) => {
    for (let child = element.lastChild; child !== null; child = child.previousSibling) stack.push(child)
  }
  open(root)
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    if (typeof step === 'string') html += step
    else if (isText(step)) {
      html += escaped(held.restoreInline(step.data))
      if (/\S/.test(step.data)) isBare = false
    } else if (isElement(step) && !DROPPED.has(step.localName)) {
      const name = step.localName
      if (KEPT.has(name)) {
        html += startTag(step)
        if (name === 'img') isBare = false
        if (VOID.has(name)) continue
        stack.push(`</${name}>`)
      }
      open(step)
    }
  }
  return isBare ? '' : html.trim()
}

function startTag(element: DomElement): string {
  const name = element.localName
  let tag = `<${name}`
  for (const attribute of [...GLOBAL, ...(OWN[name] ?? [])]) {
    const value = element.getAttribute(attribute)
    if (value === null || (ADDRESSES.has(attribute) && !SAFE_ADDRESS.test(value))) continue
    tag += ` ${attribute}="${escaped(value).replaceAll('"', '&quot;')}"`
  }
  const [, language] = (name === 'code' && LANGUAGE_CLASS.exec(element.getAttribute('class') ?? '')) || []
  return language ? `${tag} class="${language}">` : `${tag}>`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\u00A0', '&nbsp;')
