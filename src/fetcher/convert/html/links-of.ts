import { oneLine } from '../one-line.ts'
import { isWeb } from './base.ts'
import { all, type DomDocument, type DomElement, lineOf } from './nodes.ts'

/** Characters of all links together; what follows is left out, so that the JSON is never cut in the middle. */
const LINKS_LENGTH_MAX = 1_000_000
/** Characters of the text of one link. */
const TEXT_LENGTH_MAX = 1_000
const NOWHERE = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'about:', 'file:'])

/** A link of a page. */
export interface PageLink {
  /** Absolute. */
  readonly url: string
  /** The words of the link, or what its image or label says. It may be empty. */
  readonly text: string
  /** As the page gives it, such as `nofollow`; empty if it gives none. */
  readonly rel: string
  /** `anchor`: a place on the same page. `internal`: another page of the same host. `other`: any other scheme. */
  readonly kind: 'internal' | 'external' | 'anchor' | 'mailto' | 'tel' | 'other'
}

/** The links of the whole page in its order, each address once. `complete` is false if there are too many of them. */
export function linksOf(
  document: DomDocument,
  base: string,
  pageUrl: string,
): { readonly links: PageLink[]; readonly complete: boolean } {
  const page = URL.parse(pageUrl)
  const links = new Map<string, PageLink>()
  let length = 0
  for (const element of all(document, 'a[href],area[href]')) {
    const href = element.getAttribute('href') ?? ''
    const url = URL.parse(href, href.trimStart().startsWith('#') ? pageUrl : base)
    if (!url || NOWHERE.has(url.protocol)) continue
    const text = textOf(element)
    const known = links.get(url.href)
    if (known && (known.text !== '' || text === '')) continue
    const rel = oneLine(element.getAttribute('rel') ?? '')
    const link = { url: url.href, text, rel, kind: kindOf(url, page) }
    length += JSON.stringify(link).length
    if (length > LINKS_LENGTH_MAX) return { links: [...links.values()], complete: false }
    links.set(url.href, link)
  }
  return { links: [...links.values()], complete: true }
}

function textOf(element: DomElement): string {
  const image = element.querySelector('img[alt]')?.getAttribute('alt')
  const labels = [element.getAttribute('aria-label'), image, element.getAttribute('alt'), element.getAttribute('title')]
  const text = lineOf(element) || labels.find((label) => label?.trim()) || ''
  return oneLine(text).slice(0, TEXT_LENGTH_MAX)
}

function kindOf(url: URL, page: URL | null): PageLink['kind'] {
  if (url.protocol === 'mailto:') return 'mailto'
  if (url.protocol === 'tel:') return 'tel'
  if (!isWeb(url)) return 'other'
  if (url.hash !== '' && withoutHash(url) === withoutHash(page)) return 'anchor'
  return url.host === page?.host ? 'internal' : 'external'
}

const withoutHash = (url: URL | null): string =>
  url === null ? '' : url.href.slice(0, url.href.length - url.hash.length)
