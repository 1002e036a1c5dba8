import { escapeHtml } from '../xml/escape-html.ts'
import { readXml, type XmlReader } from '../xml/read-xml.ts'
import type { XmlAttributes } from '../xml/xml-attributes.ts'
import { ENTRIES_MAX, type Feed, type FeedEntry, HTML_LENGTH_MAX } from './feed.ts'
import { textOfValue } from './text-of-value.ts'

/** Reads a feed in RSS 0.9 to 2.0, RDF or Atom. @param url the base of its links, where the feed tells no other. */
export function readFeed(source: string, url: string): Feed {
  const reader = new FeedReader(url)
  readXml(source, reader)
  return reader.finish()
}

/** The prefixes that names of each vocabulary get here, whatever the feed calls them. */
const PREFIXES = new Map([
  ['http://www.w3.org/2005/Atom', ''],
  ['http://purl.org/atom/ns#', ''],
  ['http://purl.org/rss/1.0/', ''],
  ['http://my.netscape.com/rdf/simple/0.9/', ''],
  ['http://purl.org/dc/elements/1.1/', 'dc'],
  ['http://purl.org/dc/terms/', 'dcterms'],
  ['http://purl.org/rss/1.0/modules/content/', 'content'],
  ['http://www.itunes.com/dtds/podcast-1.0.dtd', 'itunes'],
  ['http://search.yahoo.com/mrss/', 'media'],
])
const NAMESPACES_MAX = 1_000
const ENTRIES = new Set(['item', 'entry'])
/** What holds the members of a feed, or those of an entry, without being one. */
const FRAMES = new Set(['rss', 'RDF', 'rdf:RDF', 'channel', 'feed', 'media:group'])
/** Members whose value is HTML. */
const HTML_MEMBERS = new Set(['description', 'summary', 'content', 'content:encoded', 'media:description'])
const MEMBERS = new Set([
  ...HTML_MEMBERS,
  ...`title subtitle tagline link guid id language pubDate lastBuildDate published updated issued modified author
  dc:creator dc:date dc:language itunes:author itunes:summary dcterms:modified`.split(/\s+/),
])

/** What has been read of a feed or of one of its entries. */
class Draft {
  readonly values = new Map<string, string>()
  /** By what they are to the entry: `alternate`, `enclosure`. */
  readonly links = new Map<string, string>()
  readonly base: string

  constructor(base: string) {
    this.base = base
  }

  /** The first of these members that is there. */
  first(...names: readonly string[]): string | undefined {
    for (const name of names) {
      const value = this.values.get(name)
      if (value !== undefined) return value
    }
    return undefined
  }
}

/** A member that is being read. */
interface Member {
  readonly name: string
  readonly base: string
  /** Whether its text is HTML as it stands, and not text. */
  readonly isHtml: boolean
  /** Elements that are open in it. */
  depth: number
  value: string
}

class FeedReader implements XmlReader {
  readonly #url: string
  readonly #prefixes = new Map<string, string>()
  /** Set where an element, or one around it, tells. */
  readonly #bases: (string | undefined)[] = []
  readonly #feed: Draft
  readonly #entries: FeedEntry[] = []
  #entry: Draft | undefined
  /** Levels of what is in a feed or an entry and no member that counts. */
  #passed = 0
  #member: Member | undefined
  #count = 0

  constructor(url: string) {
    this.#url = url
    this.#feed = new Draft(url)
  }

  open(name: string, attributes: XmlAttributes, qualified: string): void {
    this.#declare(attributes)
    this.#bases.push(resolve(attributes.get('xml:base'), this.#base) ?? this.#bases.at(-1))
    const member = this.#member
    if (member) this.#openInMember(member, name, attributes)
    else if (this.#passed > 0) this.#passed += 1
    else if (ENTRIES.has(name) && !this.#entry) this.#openEntry()
    else this.#openMember(this.#canonical(name, qualified), attributes)
  }

  close(name: string): void {
    this.#bases.pop()
    const member = this.#member
    if (member && member.depth > 0) {
      member.depth -= 1
      if (HTML_MEMBERS.has(member.name) && name !== 'br') add(member, `</${name}>`)
    } else if (member) this.#closeMember(member)
    else if (this.#passed > 0) this.#passed -= 1
    else if (ENTRIES.has(name) && this.#entry) this.#closeEntry(this.#entry)
  }

  text(text: string): void {
    const member = this.#member
    if (!member) return
    if (!HTML_MEMBERS.has(member.name)) add(member, text)
    else add(member, member.isHtml && member.depth === 0 ? text : escapeHtml(text))
  }

  finish(): Feed {
    if (this.#entry) this.#closeEntry(this.#entry)
    const feed = this.#feed
    return {
      title: textOfValue(feed.first('title')),
      url: linkOf(feed, this.#url),
      description: textOfValue(feed.first('description', 'subtitle', 'tagline', 'itunes:summary')),
      byline: authorOf(feed),
      language: textOfValue(feed.first('language', 'dc:language')),
      modified: textOfValue(feed.first('lastBuildDate', 'updated', 'pubDate', 'modified', 'dc:date')),
      entries: this.#entries,
      complete: this.#count <= ENTRIES_MAX,
    }
  }

  get #base(): string {
    return this.#bases.at(-1) ?? (this.#feed.values.get('link') || this.#url)
  }

  #declare(attributes: XmlAttributes): void {
    if (!attributes.mayHave('xmlns')) return
    for (const [name, value] of attributes.entries()) {
      if (!name.startsWith('xmlns:') || this.#prefixes.size >= NAMESPACES_MAX) continue
      const prefix = PREFIXES.get(value)
      if (prefix !== undefined) this.#prefixes.set(name.slice('xmlns:'.length), prefix)
    }
  }

  /** The name with the usual prefix of its vocabulary. */
  #canonical(name: string, qualified: string): string {
    if (name === qualified) return name
    const prefix = qualified.slice(0, -name.length - 1)
    const known = this.#prefixes.get(prefix) ?? prefix
    return known === '' ? name : `${known}:${name}`
  }

  #openEntry(): void {
    this.#count += 1
    this.#entry = new Draft(this.#base)
  }

  #openMember(name: string, attributes: XmlAttributes): void {
    const draft = this.#entry ?? this.#feed
    if (FRAMES.has(name)) {
      keepLanguage(draft, attributes)
      return
    }
    if (name === 'link' || name === 'enclosure') keepLink(draft, name, attributes, this.#base)
    const isNoAddress = name === 'guid' && attributes.get('isPermaLink') === 'false'
    if (!MEMBERS.has(name) || isNoAddress) {
      this.#passed += 1
      return
    }
    const type = attributes.get('type') ?? ''
    const isHtml = name.includes(':') || name === 'description' || /html/.test(type.replace('xhtml', ''))
    this.#member = { name, base: this.#base, isHtml, depth: 0, value: '' }
  }

  /** Elements in a text are HTML that is not escaped. In an author they are the parts of a name. */
  #openInMember(member: Member, name: string, attributes: XmlAttributes): void {
    member.depth += 1
    if (HTML_MEMBERS.has(member.name)) add(member, tagOf(name, attributes))
    else if (member.name === 'author') member.value = name === 'name' ? '' : `${member.value}\n`
  }

  #closeMember({ name, value, base }: Member): void {
    this.#member = undefined
    const { values } = this.#entry ?? this.#feed
    if (values.has(name) || !/\S/.test(value)) return
    values.set(name, name === 'link' ? (resolve(value.trim(), base) ?? '') : value)
  }

  #closeEntry(draft: Draft): void {
    this.#entry = undefined
    if (this.#entries.length >= ENTRIES_MAX) return
    const content = draft.first('content:encoded', 'content')
    this.#entries.push({
      title: textOfValue(draft.first('title')),
      url: linkOf(draft, this.#url),
      published: textOfValue(draft.first('pubDate', 'published', 'dc:date', 'issued', 'updated', 'modified')),
      byline: authorOf(draft),
      summary: draft.first('summary', 'description', 'itunes:summary', 'media:description'),
      content,
      base: draft.base,
    })
  }
}

function add(member: Member, text: string): void {
  const lengthLeft = HTML_LENGTH_MAX - member.value.length
  if (lengthLeft > 0) member.value += text.slice(0, lengthLeft)
}

function keepLanguage({ values }: Draft, attributes: XmlAttributes): void {
  const language = attributes.get('xml:lang')
  if (language !== undefined) values.set('language', language)
}

/** Atom has links in attributes, several of them; RSS has one as a text. */
function keepLink(draft: Draft, name: string, attributes: XmlAttributes, base: string): void {
  const rel = name === 'enclosure' ? name : (attributes.get('rel') ?? 'alternate')
  const href = resolve(attributes.get('href') ?? attributes.get('url'), base)
  if (href !== undefined && !draft.links.has(rel)) draft.links.set(rel, href)
}

function linkOf(draft: Draft, url: string): string | undefined {
  const link = draft.values.get('link') || draft.links.get('alternate')
  const permanent = /^https?:\/\//.exec(draft.first('guid', 'id')?.trim() ?? '')
  return link || (permanent ? resolve(permanent.input, url) : undefined) || draft.links.get('enclosure')
}

/** RSS writes `mail@host (Name)`, Atom the parts of an author on lines of their own. */
function authorOf(draft: Draft): string | undefined {
  const author = draft.first('dc:creator', 'author', 'itunes:author')?.trim()
  const [, named] = /^\S+@\S+\s+\((.+)\)$/.exec(author ?? '') ?? []
  return textOfValue(named ?? author?.split('\n')[0])
}

const resolve = (href: string | undefined, base: string): string | undefined =>
  href === undefined || href === '' ? undefined : URL.parse(href, base)?.href

function tagOf(name: string, attributes: XmlAttributes): string {
  let tag = `<${name}`
  for (const [attribute, value] of attributes.entries()) tag += ` ${attribute}="${escapeHtml(value)}"`
  return `${tag}>`
}
