/** The path of a rule, ready to be compared. */
export interface Pattern {
  /** In comparable form, `*` standing for any octets; as in a path up to its first `?`, and from there as in a query. */
  readonly inPath: string
  /** The same, all as in a query: without a `?`, a rule does not say which of the two its pieces are meant for. */
  readonly inQuery: string
  /** Whether it must match the path to its end. */
  readonly isWhole: boolean
  /** Octets of the rule: of two that match, the longer one counts. */
  readonly octets: number
}

/** A path and query in comparable form. */
interface ComparablePath {
  readonly text: string
  /** Where the query starts, after its `?`; the end of the text without one. */
  readonly queryStart: number
}

/** Characters that are written as `%XX` to be compared, since they mean nothing in a path or query, and those that are. */
const ENCODED = /%[0-9A-Fa-f]{2}|[^\w\-.~:/?#[\]@&+,;=%*]/g
const UNRESERVED = /[\w\-.~]/
/** The delimiters of the other parts of a URL delimit nothing in its query. */
const UNRESERVED_IN_QUERY = /[\w\-.~:/?#[\]@]/

/** @param value of an `allow` or `disallow` line, a character for each byte. */
export function parsePattern(value: string): Pattern {
  const isWhole = value.endsWith('$')
  const path = isWhole ? value.slice(0, -1) : value
  const inPath = comparable(path)
  return { inPath, inQuery: spelt(path, UNRESERVED_IN_QUERY), isWhole, octets: inPath.length + (isWhole ? 1 : 0) }
}

/** The path and query of a URL as patterns are compared with them. */
export function comparablePath({ pathname, search }: URL): ComparablePath {
  const text = comparable((pathname + search).replaceAll('*', '%2A'))
  const query = text.indexOf('?')
  return { text, queryStart: query === -1 ? text.length : query + 1 }
}

/**
 * Whether a pattern matches a path from its start (RFC 9309 §2.2.3). Takes the first place for each piece between two
 * `*`, which leaves most room for the rest, so that nothing is ever tried twice.
 */
export function matches({ inPath, inQuery, isWhole }: Pattern, path: ComparablePath): boolean {
  const [first = '', ...pieces] = inPath.split('*')
  const last = pieces.pop()
  if (last === undefined) return isWhole ? path.text === first : path.text.startsWith(first)
  if (!path.text.startsWith(first)) return false
  const asQuery = inQuery.split('*').slice(1)
  let end = first.length
  for (const [index, piece] of pieces.entries()) {
    end = endOfNext(piece, asQuery[index] ?? piece, path, end)
    if (end === -1) return false
  }
  const lastAsQuery = asQuery.at(-1) ?? last
  return isWhole ? endsWith(last, lastAsQuery, path, end) : endOfNext(last, lastAsQuery, path, end) !== -1
}

/** Where the first place of a piece at or after `from` ends; -1 without one. */
function endOfNext(inPath: string, inQuery: string, { text, queryStart }: ComparablePath, from: number): number {
  const start = from < queryStart ? text.indexOf(inPath, from) : -1
  if (start !== -1) return start + inPath.length
  const later = text.indexOf(inQuery, Math.max(from, queryStart))
  return later === -1 ? -1 : later + inQuery.length
}

function endsWith(inPath: string, inQuery: string, { text, queryStart }: ComparablePath, from: number): boolean {
  const isAtEnd = (piece: string, start: number) => text.length - piece.length >= start && text.endsWith(piece)
  return isAtEnd(inPath, from) || isAtEnd(inQuery, Math.max(from, queryStart))
}

/** One spelling for all that mean the same (RFC 9309 §2.2.2): `%62` as `b`, `ö` as `%C3%B6`, `%c3` as `%C3`. */
function comparable(text: string): string {
  const query = text.indexOf('?')
  if (query === -1) return spelt(text, UNRESERVED)
  return spelt(text.slice(0, query), UNRESERVED) + spelt(text.slice(query), UNRESERVED_IN_QUERY)
}

const spelt = (text: string, plain: RegExp) =>
  text.replace(ENCODED, (encoded) => {
    const octet = encoded.length === 1 ? encoded.charCodeAt(0) : Number.parseInt(encoded.slice(1), 16)
    const char = String.fromCharCode(octet)
    return plain.test(char) ? char : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
  })
