import type { Mode } from '../../../jobs/schema.ts'
import { linksContent, metadataContent } from '../data/json-content.ts'
import { linkList } from '../data/link-list.ts'
import type { Conversion, DocumentMeta } from '../document.ts'
import { failure } from '../failure.ts'
import { isWeb } from '../html/base.ts'
import { readXml } from '../xml/read-xml.ts'

/** Addresses of a sitemap that are read; the protocol allows a quarter of it. */
const URLS_MAX = 200_000
const URL_LENGTH_MAX = 8_192
const ENTRIES = new Set(['url', 'sitemap'])

/** Gives the addresses of a sitemap, or of the sitemaps in an index, one a line. */
export function convertSitemap(source: string, mode: Mode, url: string, meta: DocumentMeta): Conversion {
  if (mode === 'html') return failure('unsupported_type', 'The document is a sitemap; it has no HTML.')
  if (mode === 'article') return failure('no_article', 'The document is a sitemap, not a page with a main content.')
  if (mode === 'metadata') return metadataContent({}, meta)
  const { urls, complete } = readSitemap(source, url)
  if (urls.length === 0) return failure('empty', 'The sitemap has no addresses.')
  const cut = complete ? meta : { ...meta, truncated: true }
  const links = urls.map((address) => ({ url: address, text: '' }))
  if (mode === 'links') return linksContent(linkList(links, url), cut)
  const warnings = complete ? [] : [`The sitemap has more than ${URLS_MAX} addresses; the rest was left out.`]
  return { content: urls.join('\n'), meta: cut, warnings }
}

/** Only the web addresses of the pages: images and videos of a page have a `loc` of their own. */
function readSitemap(source: string, base: string): { readonly urls: string[]; readonly complete: boolean } {
  const urls: string[] = []
  const open: string[] = []
  let complete = true
  let text = ''
  const isAddress = () => open.at(-1) === 'loc' && ENTRIES.has(open.at(-2) ?? '')
  readXml(source, {
    open: (name) => {
      open.push(name)
      text = ''
    },
    close: () => {
      const address = isAddress() ? URL.parse(text.trim(), base) : null
      open.pop()
      if (address === null || !isWeb(address)) return
      if (urls.length < URLS_MAX) urls.push(address.href)
      else complete = false
    },
    text: (piece) => {
      if (text.length < URL_LENGTH_MAX && isAddress()) text += piece
    },
  })
  return { urls, complete }
}
