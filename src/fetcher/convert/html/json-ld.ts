import type { DomDocument } from './nodes.ts'

/** Characters of one script, objects of one page, and levels of nesting that are looked at. */
const SCRIPT_LENGTH_MAX = 500_000
const OBJECTS_MAX = 500
const LEVELS_MAX = 6

type LinkedObject = Readonly<Record<string, unknown>>

/** The JSON-LD of a page, by what it describes. */
export interface LinkedData {
  /** What each script holds. */
  readonly values: readonly unknown[]
  readonly article: LinkedObject | undefined
  readonly site: LinkedObject | undefined
  /** False if the page says that its text must be paid for. */
  readonly isFree: boolean
  readonly byId: ReadonlyMap<string, LinkedObject>
}

const ARTICLE = /(?:Article|Posting|Report|Review|Recipe)$/
const WORK = /(?:WebPage|CreativeWork|Video|Product|Course|Book|Podcast|Question|Event)/
const NESTED = ['@graph', 'mainEntity', 'mainEntityOfPage', 'itemListElement', 'hasPart', 'author', 'publisher']

export function jsonLdOf(document: DomDocument): LinkedData {
  const objects: LinkedObject[] = []
  const values = [...document.querySelectorAll('script[type="application/ld+json"]')]
    .map((script) => parseLoosely(script.textContent ?? ''))
    .filter((value) => value !== undefined)
  for (const value of values) collect(value, objects)
  const byId = new Map<string, LinkedObject>()
  for (const object of objects) {
    const id = object['@id']
    if (typeof id === 'string' && object.name !== undefined) byId.set(id, object)
  }
  const dated = objects.filter(({ datePublished }) => datePublished !== undefined)
  return {
    values,
    article: objects.find(isOf(ARTICLE)) ?? dated.find(isOf(WORK)),
    site: objects.find(isOf(/^WebSite$/)),
    byId,
    isFree: !objects.some(({ isAccessibleForFree: free }) => free === false || /^false$/i.test(textIn(free) ?? '')),
  }
}

/** A value that is a text, or the first text of a list. */
export function textIn(value: unknown): string | undefined {
  const single: unknown = Array.isArray(value) ? value[0] : value
  return typeof single === 'string' && single.trim() !== '' ? single : undefined
}

/** The address of an image: a text, an object with a `url`, or the first of a list of such. */
export function addressIn(value: unknown): string | undefined {
  const single: unknown = Array.isArray(value) ? value[0] : value
  return isObject(single) ? (textIn(single.url) ?? textIn(single.contentUrl)) : textIn(single)
}

/** The names of people or organisations: texts, objects with a name, or references to such. At most five. */
export function namesIn(value: unknown, { byId }: LinkedData): string | undefined {
  const names = (Array.isArray(value) ? value.slice(0, 5) : [value]).flatMap((entry: unknown) => {
    if (!isObject(entry)) return textIn(entry) ?? []
    const id = entry['@id']
    return textIn(entry.name) ?? textIn(typeof id === 'string' ? byId.get(id)?.name : undefined) ?? []
  })
  const distinct = [...new Set(names)]
  return distinct.length > 0 ? distinct.join(', ') : undefined
}

const isObject = (value: unknown): value is LinkedObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOf = (type: RegExp) => (object: LinkedObject) =>
  [object['@type']].flat().some((name) => typeof name === 'string' && type.test(name.replace(/^.*[/#]/, '')))

/** JSON in comments or CDATA marks, or with raw control characters in strings, as sites write it. */
function parseLoosely(source: string): unknown {
  if (source.length > SCRIPT_LENGTH_MAX) return undefined
  const text = source.replace(/^\s*(?:\/\/)?\s*(?:<!\[CDATA\[|<!--)/, '').replace(/(?:\/\/)?\s*(?:\]\]>|-->)\s*$/, '')
  try {
    return JSON.parse(text)
  } catch {
    try {
      return JSON.parse(text.replaceAll(/\p{Cc}+/gu, ' '))
    } catch {
      return undefined
    }
  }
}

function collect(root: unknown, objects: LinkedObject[]): void {
  const queue: { readonly value: unknown; readonly level: number }[] = [{ value: root, level: 0 }]
  for (let next = queue.shift(); next !== undefined && objects.length < OBJECTS_MAX; next = queue.shift()) {
    const { value, level } = next
    if (level > LEVELS_MAX) continue
    if (Array.isArray(value)) {
      for (const entry of value.slice(0, OBJECTS_MAX)) queue.push({ value: entry, level: level + 1 })
    } else if (isObject(value)) {
      objects.push(value)
      for (const key of NESTED) if (value[key] !== undefined) queue.push({ value: value[key], level: level + 1 })
    }
  }
}
