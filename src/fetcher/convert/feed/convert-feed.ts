import type { Mode } from '../../../jobs/schema.ts'
import { contentOf, type DocumentStyle } from '../data/html-pieces.ts'
import { linksContent, metadataContent } from '../data/json-content.ts'
import { linkList } from '../data/link-list.ts'
import type { Conversion, DocumentMeta } from '../document.ts'
import { failure } from '../failure.ts'
import { all, type DomDocument, moveChildren, replace } from '../html/nodes.ts'
import { escapeHtml } from '../xml/escape-html.ts'
import { ENTRIES_MAX, type Feed, type FeedEntry } from './feed.ts'

/** Characters of the HTML of all entries together; entries beyond come without their texts. */
const TEXT_LENGTH_MAX = 5_000_000

/**
 * Writes a feed: its title, then each entry with its link, date, author and text. The text is the summary, or the whole
 * text in mode `full` and where there is no summary.
 */
export function convertFeed(feed: Feed, mode: Mode, url: string, known: DocumentMeta): Conversion {
  const told = present({
    title: feed.title,
    description: feed.description,
    byline: feed.byline,
    modified: feed.modified,
    language: feed.language,
    canonical_url: feed.url,
  })
  const meta = { ...known, ...told }
  if (mode === 'metadata') return metadataContent(told, meta)
  const links = feed.entries.flatMap((entry) =>
    entry.url === undefined ? [] : [{ url: entry.url, text: nameOf(entry) }],
  )
  if (mode === 'links') return linksContent(linkList(links, url), meta)
  const { content, isCut, warnings } = write(feed, mode, url)
  if (content === '') return failure('empty', 'The feed has no title and no entries.')
  return { content, meta: isCut ? { ...meta, truncated: true } : meta, warnings }
}

function write(feed: Feed, mode: Mode, url: string) {
  const style: DocumentStyle = mode === 'html' || mode === 'text' ? mode : 'markdown'
  const warnings = new Set<string>()
  const parts = [contentOf({ pieces: [headHtml(feed)] }, url, style).content]
  let lengthLeft = TEXT_LENGTH_MAX
  for (const entry of feed.entries) {
    const text = (mode === 'full' ? entry.content : undefined) ?? entry.summary ?? entry.content ?? ''
    lengthLeft -= text.length
    const html = `${entryHtml(entry)}${lengthLeft < 0 ? '' : `<div>${text}</div>`}`
    const written = contentOf({ pieces: [html], prepare: lowerHeadings }, entry.base, style)
    for (const warning of written.warnings) warnings.add(warning)
    parts.push(written.content)
  }
  if (!feed.complete) warnings.add(`The feed has more than ${ENTRIES_MAX} entries; the rest was left out.`)
  if (lengthLeft < 0) warnings.add('The texts of the feed are too long; the last entries come without theirs.')
  const isCut = !feed.complete || lengthLeft < 0
  return { content: parts.filter((part) => part !== '').join('\n\n'), isCut, warnings: [...warnings] }
}

const headHtml = ({ title, description }: Feed) =>
  `${title === undefined ? '' : `<h1>${escapeHtml(title)}</h1>`}${description === undefined || description === title ? '' : `<p>${escapeHtml(description)}</p>`}`

function entryHtml(entry: FeedEntry): string {
  const name = escapeHtml(nameOf(entry))
  const heading = entry.url === undefined ? name : `<a href="${escapeHtml(entry.url)}">${name}</a>`
  const facts = [dateText(entry.published), entry.byline].filter((fact) => fact !== undefined)
  return `<h2>${heading}</h2>${facts.length === 0 ? '' : `<p>${escapeHtml(facts.join(' · '))}</p>`}`
}

const nameOf = ({ title, url, published }: FeedEntry): string => title ?? url ?? published ?? 'Untitled'

const ZONED = /(?:Z|[+-]\d\d:?\d\d|\b(?:GMT|UTC?|[ECMP][SD]T))\s*$/

/** ISO 8601 in UTC where the date has a zone, else as it stands. */
function dateText(published: string | undefined): string | undefined {
  if (published === undefined || !ZONED.test(published)) return published
  const date = new Date(published)
  return Number.isNaN(date.getTime()) ? published : date.toISOString().replace('.000', '')
}

/** Headings in the text of an entry stand below the one of the entry, which comes first. */
function lowerHeadings(document: DomDocument): void {
  for (const heading of all(document, 'h1,h2,h3,h4').slice(1)) {
    const lower = document.createElement(`h${Math.min(6, Number(heading.localName.slice(1)) + 2)}`)
    moveChildren(heading, lower)
    replace(heading, lower)
  }
}

const present = (values: Readonly<Record<string, string | undefined>>): DocumentMeta =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
