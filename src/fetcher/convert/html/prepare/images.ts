import { oneLine } from '../../one-line.ts'
import { all, type DomDocument, type DomElement, lineOf, replace } from '../nodes.ts'

const LAZY = ['data-src', 'data-original', 'data-lazy-src', 'data-lazy', 'data-srcset', 'srcset']
const PIXEL = /^[01](?:px)?$/

/** Gives lazy images their source; drops counting pixels; leaves the words of an image whose bytes stand in the page. */
export function normaliseImages(document: DomDocument): void {
  for (const image of all(document, 'img')) {
    const source = image.getAttribute('src')?.trim() ?? ''
    const real = isInline(source) || source === '' ? lazySource(image) : source
    if (real === undefined) replace(image, document.createTextNode(alternative(image)))
    else if (isPixel(image)) image.remove()
    else image.setAttribute('src', real)
  }
  for (const source of all(document, 'picture > source')) source.remove()
}

const isInline = (source: string) => /^data:/i.test(source)

function lazySource(image: DomElement): string | undefined {
  for (const name of LAZY) {
    const value = image.getAttribute(name)?.trim()
    if (!value) continue
    const [first = ''] = name.endsWith('srcset') ? value.split(/\s*,\s+|\s+/) : [value]
    if (first !== '' && !isInline(first)) return first
  }
  const sibling =
    image.parentElement?.localName === 'picture' ? image.parentElement.querySelector('source[srcset]') : null
  const [first = ''] = (sibling?.getAttribute('srcset') ?? '').trim().split(/\s*,\s+|\s+/)
  return first === '' || isInline(first) ? undefined : first
}

function alternative(image: DomElement): string {
  const words = oneLine(image.getAttribute('alt') ?? '')
  return words === '' || lineOf(image.parentElement).includes(words) ? '' : words
}

const isPixel = (image: DomElement) =>
  PIXEL.test(image.getAttribute('width') ?? '') && PIXEL.test(image.getAttribute('height') ?? '')
