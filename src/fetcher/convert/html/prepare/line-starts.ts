import type { HeldText } from '../held-text.ts'
import { type DomElement, type DomNode, isElement, isText } from '../nodes.ts'

const INLINE = new Set(
  `a abbr b bdi bdo cite code data del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup
  time tt u var wbr`.split(/\s+/),
)
/** What would make a heading, list, quote, rule or fence of the line that it begins. */
const LINE_MARK = /^\s*(?:\d{1,9}[.)](?=\s|$)|#{1,6}(?=\s|$)|[-+](?=\s|$)|[-=]+(?=\s*$)|>|~{3,})/

/** Escapes the signs that would be a mark of Markdown at the start of their line, in whatever block they stand. */
export function holdLineStarts(root: DomElement, held: HeldText): void {
  let atStart = true
  const stack: (DomNode | undefined)[] = [root]
  while (stack.length > 0) {
    const node = stack.pop()
    if (node === undefined) atStart = true
    else if (isText(node)) {
      if (atStart) node.data = node.data.replace(LINE_MARK, (mark: string) => escaped(mark, held))
      if (/\S/.test(node.data)) atStart = false
    } else if (isElement(node)) {
      const isBlock = !INLINE.has(node.localName)
      if (isBlock) {
        atStart = true
        stack.push(undefined)
      }
      for (let child = node.lastChild; child !== null; child = child.previousSibling) stack.push(child)
    }
  }
}

/** The first sign that is no digit gets a backslash; the writer does not see it, and so adds no second one. */
function escaped(mark: string, held: HeldText): string {
  const at = mark.search(/[^\s\d]/)
  return mark.slice(0, at) + held.inline(`\\${mark.slice(at)}`)
}
