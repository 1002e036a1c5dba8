/** The path of a rule, ready to be compared. */
export interface Pattern {
  /** In comparable form; `*` stands for any octets. */
  readonly text: string
  /** Whether it must match the path to its end. */
  readonly isWhole: boolean
  /** Octets of the rule: of two that match, the longer one counts. */
  readonly octets: number
}

/** Characters that are written as `%XX` to be compared, since they mean nothing in a path or query, and those that are. */
const ENCODED = /%[0-9A-Fa-f]{2}|[^\w\-.~:/?#[\]@&+,;=%*]/g
const UNRESERVED = /[\w\-.~]/
/** The delimiters of the other parts of a URL delimit nothing in its query. */
const UNRESERVED_IN_QUERY = /[\w\-.~:/?#[\]@]/

/** @param value of an `allow` or `disallow` line, a character for each byte. */
export function parsePattern(value: string): Pattern {
  const isWhole = value.endsWith('$')
  const text = comparable(isWhole ? value.slice(0, -1) : value)
  return { text, isWhole, octets: text.length + (isWhole ? 1 : 0) }
}

/** The path and query of a URL as patterns are compared with them. */
export function comparablePath({ pathname, search }: URL): string {
  return comparable((pathname + search).replaceAll('*', '%2A'))
}

/**
 * Whether a pattern matches a path from its start (RFC 9309 §2.2.3). Takes the first place for each piece between two
 * `*`, which leaves most room for the rest, so that nothing is ever tried twice.
 */
export function matches({ text, isWhole }: Pattern, path: string): boolean {
  const [first = '', ...pieces] = text.split('*')
  const last = pieces.pop()
  if (last === undefined) return isWhole ? path === first : path.startsWith(first)
  if (!path.startsWith(first)) return false
  let end = first.length
  for (const piece of pieces) {
    const start = path.indexOf(piece, end)
    if (start === -1) return false
    end = start + piece.length
  }
  return isWhole ? path.length - last.length >= end && path.endsWith(last) : path.includes(last, end)
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
