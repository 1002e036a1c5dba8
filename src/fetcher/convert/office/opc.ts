import { decodeText } from '../charset.ts'
import type { DocumentMeta } from '../document.ts'
import { oneLine } from '../one-line.ts'
import { readXml, type XmlReader } from '../xml/read-xml.ts'
import { OfficeError } from './office-error.ts'
import type { ZipArchive } from './zip.ts'

/** What a part of an Office Open XML document refers to. */
export interface Relationship {
  /** The last part of its type, such as `hyperlink`. */
  readonly type: string
  /** The name of a part, or a URL if it is external. */
  readonly target: string
  readonly isExternal: boolean
}

/** Relationships that are looked at of one part. */
const RELATIONSHIPS_MAX = 100_000

/** The XML of a part; undefined if there is no such part. */
export function sourceOf(archive: ZipArchive, name: string): string | undefined {
  const bytes = archive.read(name)
  return bytes === undefined ? undefined : decodeText(bytes, undefined, 'xml').text
}

/** The XML of a part. @throws {OfficeError} `bad_document` if there is no such part. */
export function sourceNeeded(archive: ZipArchive, name: string): string {
  const source = sourceOf(archive, name)
  if (source !== undefined) return source
  throw new OfficeError('bad_document', `The document is damaged: its part ${name} is missing.`)
}

/** Reads a part as XML, if there is one. */
export function readPart(archive: ZipArchive, name: string, reader: XmlReader): void {
  const source = sourceOf(archive, name)
  if (source !== undefined) readXml(source, reader)
}

/** Reads a part as XML. @throws {OfficeError} `bad_document` if there is no such part. */
export function readNeeded(archive: ZipArchive, name: string, reader: XmlReader): void {
  readXml(sourceNeeded(archive, name), reader)
}

/** A reader that is only told of elements that begin. */
export const onOpen = (open: XmlReader['open']): XmlReader => ({ open, close() {}, text() {} })

/** The relationships of a part by their ids. @param part empty for those of the whole document. */
export function relationshipsOf(archive: ZipArchive, part: string): ReadonlyMap<string, Relationship> {
  const found = new Map<string, Relationship>()
  const slash = part.lastIndexOf('/') + 1
  const name = `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`
  const reader = onOpen((element, attributes) => {
    if (element !== 'Relationship' || found.size >= RELATIONSHIPS_MAX) return
    const target = attributes.get('Target') ?? ''
    const isExternal = attributes.get('TargetMode') === 'External'
    const type = (attributes.get('Type') ?? '').split('/').at(-1) ?? ''
    found.set(attributes.get('Id') ?? '', { type, isExternal, target: isExternal ? target : resolvePart(part, target) })
  })
  readPart(archive, name, reader)
  return found
}

/** The name of the part that a path leads to from another part. */
export function resolvePart(from: string, target: string): string {
  const path = URL.parse(target, `part:///${from}`)?.pathname ?? target
  try {
    return decodeURIComponent(path).replace(/^\/+/, '')
  } catch {
    return path.replace(/^\/+/, '')
  }
}

/** The part of this type, or the name that it has in most documents. */
export function partOf(relationships: ReadonlyMap<string, Relationship>, type: string, usual: string): string {
  for (const relationship of relationships.values()) {
    if (relationship.type === type && !relationship.isExternal) return relationship.target
  }
  return usual
}

const META_NAMES = new Map<string, keyof DocumentMeta>([
  ['title', 'title'],
  ['creator', 'byline'],
  ['description', 'description'],
  ['created', 'published'],
  ['modified', 'modified'],
  ['language', 'language'],
])

/** What the properties of the document say about it. */
export function opcMeta(archive: ZipArchive): DocumentMeta {
  const part = partOf(relationshipsOf(archive, ''), 'core-properties', 'docProps/core.xml')
  const collector = new TextCollector((name) => META_NAMES.get(name))
  readPart(archive, part, collector)
  return collector.values
}

/** Collects the text of elements that have a name of their own in `meta`: the first of each that is not blank. */
export class TextCollector implements XmlReader {
  readonly values: Record<string, string> = {}
  readonly #keyOf: (name: string) => string | undefined
  #text = ''

  constructor(keyOf: (name: string) => string | undefined) {
    this.#keyOf = keyOf
  }

  open(): void {
    this.#text = ''
  }

  close(name: string): void {
    const key = this.#keyOf(name)
    const text = oneLine(this.#text).slice(0, VALUE_LENGTH_MAX)
    if (key !== undefined && text !== '' && this.values[key] === undefined) this.values[key] = text
    this.#text = ''
  }

  text(text: string): void {
    if (this.#text.length < VALUE_LENGTH_MAX) this.#text += text
  }
}

/** Characters kept of any one value. */
const VALUE_LENGTH_MAX = 1_000
