import { measureText } from './measure.ts'
import { all, type DomElement } from './nodes.ts'

const MAIN = ['main', '[role=main]', 'article', '#content', '#main', '.main-content']
/** The share of the page's text that an element must hold to count as its main part. */
const SHARE_MIN = 0.3

/** The one element that a page marks as its main part, or the whole body. */
export function mainRoot(body: DomElement): DomElement {
  const sizeOf = measureText(body)
  const total = Math.max(1, sizeOf(body).text)
  for (const selector of MAIN) {
    const outer = all(body, selector).filter((element) => (element.parentElement?.closest(selector) ?? null) === null)
    const [only] = outer
    if (outer.length === 1 && only && sizeOf(only).text >= total * SHARE_MIN) return only
  }
  return body
}
