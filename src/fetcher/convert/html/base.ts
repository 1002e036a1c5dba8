import type { DomDocument } from './nodes.ts'

/** The base of a page's relative links: its first `base` that leads to http(s), or its own address. */
export function baseOf(document: DomDocument, pageUrl: string): string {
  for (const element of document.querySelectorAll('base[href]')) {
    const url = URL.parse(element.getAttribute('href') ?? '', pageUrl)
    if (url && isWeb(url)) return url.href
  }
  return pageUrl
}

export const isWeb = (url: URL): boolean => url.protocol === 'http:' || url.protocol === 'https:'
