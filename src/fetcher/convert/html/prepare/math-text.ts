import { childElements, type DomElement, lineOf } from '../nodes.ts'

/** Levels of a formula that are read as such; what is deeper is read as its letters. */
const LEVELS_MAX = 40
/** Elements that are no part of what a reader sees of a formula. */
const SILENT = new Set('annotation annotation-xml mphantom mspace none mprescripts style script'.split(' '))

/** Reads MathML as a line of text: `(a+b)/(2c)`, `x_1^2`, `√(x)`. */
export function mathText(element: DomElement, level = 0): string {
  const name = element.localName.toLowerCase()
  if (SILENT.has(name)) return ''
  const children = childElements(element)
  if (children.length === 0 || level > LEVELS_MAX) return lineOf(element).replaceAll(/[\u2061-\u2064]/g, '')
  const parts = children.map((child) => mathText(child, level + 1))
  const [first = '', second = '', third = ''] = parts
  switch (name) {
    case 'mfrac':
      return `${grouped(first)}/${grouped(second)}`
    case 'msup':
    case 'mover':
      return `${grouped(first)}^${grouped(second)}`
    case 'msub':
    case 'munder':
      return `${grouped(first)}_${grouped(second)}`
    case 'msubsup':
    case 'munderover':
      return `${grouped(first)}_${grouped(second)}^${grouped(third)}`
    case 'msqrt':
      return `√${grouped(parts.join(''))}`
    case 'mroot':
      return `root(${first}, ${second})`
    case 'mfenced':
      return `${element.getAttribute('open') ?? '('}${parts.join(', ')}${element.getAttribute('close') ?? ')'}`
    case 'mtable':
      return parts.join('; ')
    case 'mtr':
    case 'mlabeledtr':
      return parts.join(', ')
    default:
      return parts.join('')
  }
}

/** In brackets, unless it is one sign, number or name. */
const grouped = (text: string): string =>
  /^(?:\p{N}[\p{N}.,]*|\p{L}+|.|\([^()]*\))$/su.test(text) ? text : `(${text})`
