/** `document`: one object or list. `lines`: one on each line. */
export type JsonShape = 'document' | 'lines'

/** Lines that are looked at to tell JSON Lines from other text. */
const LINES_SEEN = 50
/** Characters that are parsed. Parsing takes many times the memory of the text; a longer one is told by its ends. */
const PARSED_LENGTH_MAX = 500_000
const JSON_START = /^\s*(?:\[\s*(?:["{[\]\d-]|true|false|null)|\{\s*["}])/
const ENDS = new Map([
  ['[', ']'],
  ['{', '}'],
])

/**
 * Tells whether bytes are JSON, as far as that can be told from other text: a bare number or word is none.
 * @param start the first characters, without a byte order mark and white space.
 * @param isLabelled whether the header says that it is JSON, which then may only be of the other shape.
 */
export function jsonShape(body: Uint8Array, start: string, isLabelled: boolean): JsonShape | undefined {
  if (!JSON_START.test(start)) return isLabelled ? 'document' : undefined
  const text = new TextDecoder(markedEncoding(body)).decode(body)
  if (isJsonLines(text)) return 'lines'
  return isLabelled || isJson(text) ? 'document' : undefined
}

/** Two lines at least, and each an object or list. */
function isJsonLines(text: string): boolean {
  let count = 0
  for (let at = 0; at < text.length && count < LINES_SEEN;) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end < 0 ? text.length : end)
    at = end < 0 ? text.length : end + 1
    if (!/\S/.test(line)) continue
    if (!isJson(line)) return false
    count += 1
  }
  return count > 1
}

function isJson(text: string): boolean {
  if (!JSON_START.test(text)) return false
  if (text.length > PARSED_LENGTH_MAX) {
    const trimmed = text.trim()
    return trimmed.at(-1) === ENDS.get(trimmed.charAt(0))
  }
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The encoding that a byte order mark tells, or UTF-8. */
const markedEncoding = ([first, second]: Uint8Array): string =>
  first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
