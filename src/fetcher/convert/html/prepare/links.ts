import { isWeb } from '../base.ts'
import { all, ancestor, descendants, type DomDocument, type DomElement, moveChildren, unwrap } from '../nodes.ts'

const HEADING_MARKS = /^[#¶§🔗\s]*$/u
/** Links that are of use outside a browser. */
const KEPT_PROTOCOLS = new Set(['mailto:', 'tel:', 'ftp:', 'magnet:'])

/** Drops the links that headings carry to themselves: a mark, or nothing, for a text. */
export function dropHeadingAnchors(document: DomDocument): void {
  for (const link of all(document, 'h1 a,h2 a,h3 a,h4 a,h5 a,h6 a')) {
    const leadsHere = link.getAttribute('href')?.includes('#') ?? true
    if (leadsHere && HEADING_MARKS.test(link.textContent ?? '') && link.querySelector('img') === null) link.remove()
  }
}

/** Makes links and images absolute. Links that only scripts follow leave their text; images without a source go. */
export function resolveUrls(document: DomDocument, base: string, pageUrl: string): void {
  for (const link of all(document, 'a[href]')) {
    const href = resolve(link.getAttribute('href') ?? '', base, pageUrl)
    if (href === undefined) unwrap(link)
    else link.setAttribute('href', href)
  }
  for (const image of all(document, 'img')) {
    const source = image.getAttribute('src')
    const url = source === null ? null : URL.parse(source, base)
    if (url && isWeb(url)) image.setAttribute('src', printable(url))
    else image.remove()
  }
}

/** A bare fragment stays on the page whatever its base says: this is what its author meant. */
function resolve(href: string, base: string, pageUrl: string): string | undefined {
  const url = URL.parse(href, href.trimStart().startsWith('#') ? pageUrl : base)
  return url && (isWeb(url) || KEPT_PROTOCOLS.has(url.protocol)) ? printable(url) : undefined
}

/** Without the characters that end a link or a table cell in Markdown. */
const printable = (url: URL) => url.href.replaceAll(' ', '%20').replaceAll('|', '%7C').replaceAll('\\', '%5C')

const LINK = new Set(['a'])
const HEADING = /^h[1-6]$/
const BLOCKS = new Set(
  'address article blockquote div dl figure h1 h2 h3 h4 h5 h6 header li ol p pre section table ul'.split(' '),
)

/**
 * A link around whole blocks, as on cards, moves into the first heading or block that has a text. A link in a link,
 * which only broken markup makes, leaves its text.
 */
export function narrowBlockLinks(root: DomElement): void {
  for (const link of all(root, 'a[href]')) {
    if (ancestor(link, LINK)) unwrap(link)
    else {
      const blocks = leafBlocks(link)
      if (blocks.length > 0) moveLink(link, blocks.find(({ localName }) => HEADING.test(localName)) ?? blocks[0])
    }
  }
}

/** The blocks in a link that have a text and hold no other block. */
function leafBlocks(link: DomElement): DomElement[] {
  const blocks = descendants(link).filter(({ localName }) => BLOCKS.has(localName))
  const outer = new Set(blocks.map((block) => ancestor(block, BLOCKS)))
  return blocks.filter((block) => !outer.has(block) && hasText(block))
}

function moveLink(link: DomElement, target: DomElement | undefined): void {
  if (target) {
    const inner = target.ownerDocument.createElement('a')
    inner.setAttribute('href', link.getAttribute('href') ?? '')
    moveChildren(target, inner)
    target.appendChild(inner)
  }
  unwrap(link)
}

const hasText = (element: DomElement) => /\S/.test(element.textContent ?? '')

/** Drops links around nothing. */
export function dropEmptyLinks(root: DomElement): void {
  for (const link of all(root, 'a')) if (!hasText(link) && link.querySelector('img') === null) unwrap(link)
}
