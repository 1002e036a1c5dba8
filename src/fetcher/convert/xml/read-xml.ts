import { decodeEntities } from './entities.ts'
import { XmlAttributes } from './xml-attributes.ts'

/** Gets the parts of an XML document in their order. Names come without their prefix. */
export interface XmlReader {
  /** @param qualified the name with its prefix, as it stands in the document. */
  open(name: string, attributes: XmlAttributes, qualified: string): void
  /** Comes once for each `open`, in the right order, whatever the document leaves out. */
  close(name: string, qualified: string): void
  /** A piece of text; the text of one element may come in several. */
  text(text: string): void
}

/**
 * Reads XML in one pass and linear time. It forgives what feeds do wrong: bare `&` and `<`, tags that are not closed or
 * not open, junk around the document. A document type is skipped, so that no entity of its own is ever expanded or
 * fetched; an entity that neither XML nor HTML knows stays as it is written.
 */
export function readXml(source: string, reader: XmlReader): void {
  const open = new OpenElements(reader)
  const text = (raw: string) => {
    if (raw !== '') reader.text(decodeEntities(raw))
  }
  let at = 0
  while (at < source.length) {
    const tag = source.indexOf('<', at)
    text(source.slice(at, tag < 0 ? source.length : tag))
    if (tag < 0) break
    if (source.startsWith('<![CDATA[', tag)) {
      const end = source.indexOf(']]>', tag)
      const data = source.slice(tag + '<![CDATA['.length, end < 0 ? source.length : end)
      if (data !== '') reader.text(data)
      at = after(source, end, 3)
    } else if (source.startsWith('<!--', tag)) at = after(source, source.indexOf('-->', tag + 4), 3)
    else if (source.startsWith('<?', tag)) at = after(source, source.indexOf('?>', tag), 2)
    else if (source.startsWith('<!', tag)) at = endOfDeclaration(source, tag)
    else if (isNameStart(source.charCodeAt(tag + 1)) || source.startsWith('</', tag)) {
      const end = endOfTag(source, tag)
      open.tag(source.slice(tag + 1, end))
      at = end + 1
    } else {
      reader.text('<')
      at = tag + 1
    }
  }
  open.closeAll()
}

/** The index behind a mark that was found, or the end. */
const after = (source: string, found: number, length: number) => (found < 0 ? source.length : found + length)

/** Letters, `_`, `:` and all that is not ASCII. */
const isNameStart = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 58 || code > 127

const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39
const SIGN_GREATER = 62

/** The index of the `>` that ends a tag, not one in a quoted value; the end of the document if there is none. */
function endOfTag(source: string, start: number): number {
  for (let at = start; at < source.length; at += 1) {
    const code = source.charCodeAt(at)
    if (code === SIGN_GREATER) return at
    if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) continue
    at = source.indexOf(code === DOUBLE_QUOTE ? '"' : "'", at + 1)
    if (at < 0) break
  }
  return source.length
}

/** Behind a document type, with or without declarations of its own in brackets. */
function endOfDeclaration(source: string, start: number): number {
  const end = after(source, source.indexOf('>', start), 1)
  const bracket = source.slice(start, end).indexOf('[')
  if (bracket < 0) return end
  const inner = source.indexOf(']', start + bracket)
  return inner < 0 ? source.length : after(source, source.indexOf('>', inner), 1)
}

/** The elements that are open, so that each gets its `close`. */
class OpenElements {
  readonly #reader: XmlReader
  readonly #names: string[] = []
  readonly #counts = new Map<string, number>()

  constructor(reader: XmlReader) {
    this.#reader = reader
  }

  /** @param content what stands between `<` and `>`. */
  tag(content: string): void {
    if (content.startsWith('/')) return this.#close(content.slice(1).trim())
    const isEmpty = content.endsWith('/')
    const [name = ''] = /^[^\s/]+/.exec(content) ?? []
    const attributes = new XmlAttributes(content.slice(name.length, isEmpty ? -1 : undefined))
    this.#names.push(name)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    this.#reader.open(localName(name), attributes, name)
    if (isEmpty) this.#closeLast()
  }

  closeAll(): void {
    while (this.#names.length > 0) this.#closeLast()
  }

  /** Closes what was left open in an element with it. A tag that closes nothing is passed over. */
  #close(name: string): void {
    if ((this.#counts.get(name) ?? 0) === 0) return
    while (this.#names.at(-1) !== name) this.#closeLast()
    this.#closeLast()
  }

  #closeLast(): void {
    const name = this.#names.pop()
    if (name === undefined) return
    this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1)
    this.#reader.close(localName(name), name)
  }
}

/** A name without its prefix. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)
