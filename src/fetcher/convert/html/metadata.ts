import type { DocumentMeta } from '../document.ts'
import { oneLine } from '../one-line.ts'
import { isWeb } from './base.ts'
import { addressIn, jsonLdOf, type LinkedData, namesIn, textIn } from './json-ld.ts'
import { type DomDocument, lineOf } from './nodes.ts'

/** Characters kept of any one value. */
const VALUE_LENGTH_MAX = 1_000
const BYLINE_LENGTH_MAX = 120
const LANGUAGE_TAG = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*$/

type PageMeta = Omit<DocumentMeta, 'content_type' | 'charset' | 'pages_total' | 'pages_done' | 'outline' | 'truncated'>

/**
 * What a page says about itself, in JSON-LD, Open Graph and other `meta` elements, microdata and its markup.
 * Members that it does not say are left out. Comes before anything changes the document.
 */
export function metadataOf(document: DomDocument, base: string): PageMeta {
  const meta = metaElements(document)
  const data = jsonLdOf(document)
  const site = siteName(meta, data)
  return present({
    title: titleOf(document, meta, data, site),
    description:
      first(meta, 'description', 'og:description', 'twitter:description') ?? textIn(data.article?.description),
    byline: bylineOf(document, meta, data),
    published: publishedOf(document, meta, data),
    modified: modifiedOf(document, meta, data),
    language: languageOf(document, meta),
    site_name: site,
    canonical_url: canonicalOf(document, meta, base),
    image: imageOf(document, meta, data, base),
  })
}

/** The members that have a text, cut to a sane length. */
function present(values: Record<keyof PageMeta, string | undefined>): PageMeta {
  const entries = Object.entries(values).flatMap(([key, value]) => {
    const line = oneLine(value ?? '').slice(0, VALUE_LENGTH_MAX)
    return line === '' ? [] : [[key, line] as const]
  })
  return Object.fromEntries(entries)
}

type MetaElements = ReadonlyMap<string, string>

/** The first value of each name, in lower case. */
function metaElements(document: DomDocument): MetaElements {
  const values = new Map<string, string>()
  for (const element of document.querySelectorAll('meta[content]')) {
    const value = element.getAttribute('content')?.trim()
    if (!value) continue
    for (const attribute of ['property', 'name', 'itemprop', 'http-equiv']) {
      for (const name of (element.getAttribute(attribute) ?? '').toLowerCase().split(/\s+/)) {
        if (name !== '' && !values.has(name)) values.set(name, value)
      }
    }
  }
  return values
}

function first(meta: MetaElements, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = meta.get(name)
    if (value !== undefined) return value
  }
  return undefined
}

const siteName = (meta: MetaElements, data: LinkedData) =>
  first(meta, 'og:site_name', 'application-name') ?? textIn(data.site?.name) ?? namesIn(data.article?.publisher, data)

/** Letters and digits only, to compare titles. */
const bare = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The heading that the page's own titles contain; else the most careful of them, without the name of the site. */
function titleOf(document: DomDocument, meta: MetaElements, data: LinkedData, site: string | undefined) {
  const element = lineOf(document.querySelector('title'))
  const social = first(meta, 'og:title', 'twitter:title')
  const headings = [...document.querySelectorAll('h1')].map(lineOf).filter((text) => text !== '')
  const known = bare(`${element} ${social ?? ''}`)
  const heading = headings.find((text) => bare(text).length > 3 && known.includes(bare(text)))
  if (heading !== undefined) return heading
  const title = textIn(data.article?.headline) ?? social ?? element
  if (title === '') return headings[0]
  const parts = title.split(/\s+[|–—\-·»:]\s+/)
  const last = bare(parts.at(-1) ?? '')
  const endsInSite = site !== undefined && parts.length > 1 && last !== '' && bare(site).includes(last)
  return endsInSite ? title.slice(0, title.lastIndexOf(parts.at(-1) ?? '')).replace(/\s+[|–—\-·»:]\s+$/, '') : title
}

const AUTHOR_META = [
  'author',
  'article:author_name',
  'parsely-author',
  'sailthru.author',
  'dc.creator',
  'dcterms.creator',
  'citation_author',
  'article:author',
]
const AUTHOR_ELEMENTS = [
  '[itemprop~=author] [itemprop=name]',
  '[itemprop~=author]',
  'a[rel~=author]',
  '.author-name',
  '.byline-name',
  '.byline a',
  '.byline',
  '.author',
]

function bylineOf(document: DomDocument, meta: MetaElements, data: LinkedData): string | undefined {
  const told = namesIn(data.article?.author, data) ?? namesIn(data.article?.creator, data)
  const values = [told, ...AUTHOR_META.map((name) => meta.get(name))]
  const value = values.find((text) => text !== undefined && !/^https?:/.test(text)) ?? shownAuthor(document)
  const name = value?.replace(/^\s*(?:by|written by|posted by|author:?)\s+/i, '')
  return name !== undefined && name.length <= BYLINE_LENGTH_MAX ? name : undefined
}

function shownAuthor(document: DomDocument): string | undefined {
  for (const selector of AUTHOR_ELEMENTS) {
    const element = document.querySelector(selector)
    const text = element?.getAttribute('content') ?? lineOf(element)
    if (text !== '' && text.length < 60 && text.split(' ').length < 8) return text
  }
  return undefined
}

const DATE_META = [
  'article:published_time',
  'og:article:published_time',
  'datepublished',
  'date',
  'dc.date',
  'dc.date.issued',
  'dcterms.created',
  'pubdate',
  'publishdate',
  'publish_date',
  'parsely-pub-date',
  'sailthru.date',
  'citation_publication_date',
]
const DATE_ELEMENTS =
  'time[itemprop=datePublished],time[pubdate],article time[datetime],main time[datetime],time[datetime]'

function publishedOf(document: DomDocument, meta: MetaElements, data: LinkedData): string | undefined {
  const told = textIn(data.article?.datePublished) ?? textIn(data.article?.dateCreated) ?? first(meta, ...DATE_META)
  return told ?? document.querySelector(DATE_ELEMENTS)?.getAttribute('datetime') ?? undefined
}

const MODIFIED_META = [
  'article:modified_time',
  'og:updated_time',
  'og:article:modified_time',
  'datemodified',
  'last-modified',
  'dcterms.modified',
  'dc.date.modified',
  'revised',
]

function modifiedOf(document: DomDocument, meta: MetaElements, data: LinkedData): string | undefined {
  const told = textIn(data.article?.dateModified) ?? first(meta, ...MODIFIED_META)
  return told ?? document.querySelector('time[itemprop=dateModified]')?.getAttribute('datetime') ?? undefined
}

function languageOf(document: DomDocument, meta: MetaElements): string | undefined {
  const told = document.documentElement.getAttribute('lang') || first(meta, 'content-language', 'og:locale', 'language')
  const tag = told?.split(',')[0]?.trim()
  return tag && LANGUAGE_TAG.test(tag) ? tag.replaceAll('_', '-') : undefined
}

function imageOf(document: DomDocument, meta: MetaElements, data: LinkedData, base: string): string | undefined {
  const told = first(meta, 'og:image', 'og:image:url', 'og:image:secure_url', 'twitter:image', 'twitter:image:src')
  const link = document.querySelector('link[rel~=image_src]')?.getAttribute('href')
  return webAddress(told ?? link ?? addressIn(data.article?.image) ?? meta.get('image'), base)
}

function canonicalOf(document: DomDocument, meta: MetaElements, base: string): string | undefined {
  const href = document.querySelector('link[rel~=canonical]')?.getAttribute('href') ?? meta.get('og:url')
  return webAddress(href, base)
}

function webAddress(href: string | undefined, base: string): string | undefined {
  const url = href === undefined ? null : URL.parse(href, base)
  return url && isWeb(url) ? url.href : undefined
}
