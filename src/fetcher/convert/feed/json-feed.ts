import { escapeHtml } from '../xml/escape-html.ts'
import { ENTRIES_MAX, type Feed, type FeedEntry, HTML_LENGTH_MAX } from './feed.ts'
import { textOfValue } from './text-of-value.ts'

const VERSION = /"version"\s*:\s*"https?:(?:\\?\/){2}jsonfeed\.org(?:\\?\/)version(?:\\?\/)/

type JsonObject = Readonly<Record<string, unknown>>

/** Reads a JSON Feed; undefined if the JSON is none, which only its `version` tells. */
export function readJsonFeed(source: string, url: string): Feed | undefined {
  if (!VERSION.test(source)) return undefined
  const feed = parse(source)
  if (!/^https?:\/\/jsonfeed\.org\/version\//.test(textOf(feed?.version) ?? '') || feed === undefined) return undefined
  const items = Array.isArray(feed.items) ? feed.items.filter(isObject) : []
  return {
    title: textOfValue(textOf(feed.title)),
    url: resolve(feed.home_page_url, url),
    description: textOfValue(textOf(feed.description)),
    byline: authorOf(feed),
    language: textOfValue(textOf(feed.language)),
    modified: undefined,
    entries: items.slice(0, ENTRIES_MAX).map((item) => entryOf(item, url)),
    complete: items.length <= ENTRIES_MAX,
  }
}

function entryOf(item: JsonObject, url: string): FeedEntry {
  const link = resolve(item.url, url) ?? resolve(item.external_url, url)
  return {
    title: textOfValue(textOf(item.title)),
    url: link,
    published: textOfValue(textOf(item.date_published) ?? textOf(item.date_modified)),
    byline: authorOf(item),
    summary: asHtml(item.summary),
    content: textOf(item.content_html)?.slice(0, HTML_LENGTH_MAX) ?? asHtml(item.content_text),
    base: link ?? url,
  }
}

/** The first author, as the versions 1.0 and 1.1 name them. */
function authorOf(value: JsonObject): string | undefined {
  const [first] = Array.isArray(value.authors) ? value.authors : [value.author]
  return isObject(first) ? textOfValue(textOf(first.name)) : undefined
}

/** Plain text as HTML: lines stay lines. */
const asHtml = (value: unknown) => {
  const text = textOf(value)?.slice(0, HTML_LENGTH_MAX)
  return text === undefined
    ? undefined
    : escapeHtml(text)
        .replaceAll(/\n{2,}/g, '<p>')
        .replaceAll('\n', '<br>')
}

const resolve = (value: unknown, base: string) => {
  const text = textOf(value)
  return text === undefined ? undefined : URL.parse(text, base)?.href
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null

function parse(source: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(source)
    return isObject(value) ? value : undefined
  } catch {
    return undefined // Other JSON than a feed may be broken, too; it comes as it is.
  }
}
