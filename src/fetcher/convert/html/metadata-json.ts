import type { DocumentMeta } from '../document.ts'
import { jsonLdOf } from './json-ld.ts'
import { all, type DomDocument } from './nodes.ts'

/** Levels of nesting, and characters of all JSON-LD together, above which it is left out. */
const LEVELS_MAX = 30
const JSON_LD_LENGTH_MAX = 1_000_000
/** Open Graph values of one page, and characters of each. */
const VALUES_MAX = 200
const VALUE_LENGTH_MAX = 2_000
const PROPERTY = /^(?:og|article|profile|book|music|video|product|fb|twitter):/i

/** What a page says about itself, as JSON that is read on. Members that it does not say are left out. */
export function metadataJson(
  document: DomDocument,
  meta: DocumentMeta,
): { readonly json: object; readonly complete: boolean } {
  const { title, description, byline, published, modified, language, canonical_url, site_name, image } = meta
  const { values } = jsonLdOf(document)
  const shallow = values.filter((value) => isShallow(value))
  const fits = JSON.stringify(shallow, undefined, 2).length <= JSON_LD_LENGTH_MAX
  const json = {
    title,
    description,
    byline,
    published,
    modified,
    language,
    canonical_url,
    site_name,
    image,
    open_graph: openGraphOf(document),
    json_ld: fits ? shallow : [],
  }
  return { json, complete: fits && shallow.length === values.length }
}

/** Properties by their full names; one that is given more than once is a list. */
function openGraphOf(document: DomDocument): Record<string, string | string[]> {
  const given = all(document, 'meta[content]').map((element) => ({
    name: (element.getAttribute('property') ?? element.getAttribute('name') ?? '').trim().toLowerCase(),
    value: (element.getAttribute('content') ?? '').trim().slice(0, VALUE_LENGTH_MAX),
  }))
  const kept = given.filter(({ name, value }) => value !== '' && PROPERTY.test(name)).slice(0, VALUES_MAX)
  return Object.fromEntries(
    [...Map.groupBy(kept, ({ name }) => name)].map(([name, entries]) => {
      const values = entries.map(({ value }) => value)
      return [name, values.length > 1 ? values : (values[0] ?? '')]
    }),
  )
}

/** Writing JSON is recursive, reading it is not: a page must not overflow the stack. */
function isShallow(root: unknown): boolean {
  let level: unknown[] = [root]
  for (let depth = 0; depth <= LEVELS_MAX; depth += 1) {
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
    if (level.length === 0) return true
  }
  return false
}
