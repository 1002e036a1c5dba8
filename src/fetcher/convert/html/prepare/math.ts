import { oneLine } from '../../one-line.ts'
import type { HeldText } from '../held-text.ts'
import { all, type DomDocument, type DomElement, replace } from '../nodes.ts'
import { mathText } from './math-text.ts'

const MATH = '.katex-display,.katex,.mwe-math-element,mjx-container,math,script[type^="math/tex"]'
const TEX_LENGTH_MAX = 10_000

/** Puts the TeX that a formula carries in place of its markup, or else MathML as a line of text. */
export function holdMath(document: DomDocument, held: HeldText): void {
  for (const element of all(document, MATH)) {
    if (element.parentElement?.closest('[data-tex]')) continue
    const tex = texOf(element)
    if (tex === undefined) {
      if (element.localName === 'math') replace(element, document.createTextNode(mathText(element)))
      continue
    }
    element.setAttribute('data-tex', '') // What is inside goes with it.
    const mark = isDisplay(element) ? '$$' : '$'
    replace(element, document.createTextNode(held.inline(`${mark}${tex}${mark}`)))
  }
}

function texOf(element: DomElement): string | undefined {
  const annotation = element.querySelector('annotation[encoding="application/x-tex"]')?.textContent
  const own = element.localName === 'script' ? element.textContent : undefined
  const tex = annotation ?? own ?? element.getAttribute('alttext') ?? element.getAttribute('data-latex')
  const line = oneLine(tex ?? '')
  return line !== '' && line.length <= TEX_LENGTH_MAX ? line : undefined
}

const isDisplay = (element: DomElement): boolean =>
  element.matches('.katex-display,[display=block],[display=true]') ||
  element.querySelector('math[display=block]') !== null ||
  /mode=display/.test(element.getAttribute('type') ?? '')
