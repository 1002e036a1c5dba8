import type { XmlReader } from '../xml/read-xml.ts'
import type { XmlAttributes } from '../xml/xml-attributes.ts'
import { DocumentWriter, type ParagraphKind, type TextFormat } from './document-writer.ts'
import { OdfStyles } from './odf-styles.ts'
import { onOpen, readNeeded, readPart } from './opc.ts'
import type { ZipArchive } from './zip.ts'

/**
 * Reads an OpenDocument text. Comments and earlier versions are left out; notes stand at the end.
 * @throws {OfficeError} `bad_document`
 */
export function readOdt(archive: ZipArchive): DocumentWriter {
  const reader = new OdfTextReader(readOdfStyles(archive))
  readNeeded(archive, 'content.xml', reader)
  return reader.finish()[0] ?? new DocumentWriter()
}

/**
 * Reads the slides of an OpenDocument presentation, or the pages of a drawing.
 * @throws {OfficeError} `bad_document`
 */
export function readOdp(archive: ZipArchive): readonly DocumentWriter[] {
  const reader = new OdfTextReader(readOdfStyles(archive))
  readNeeded(archive, 'content.xml', reader)
  return reader.finish().slice(1)
}

/** The styles of the document's own part; those in the content come while it is read. */
function readOdfStyles(archive: ZipArchive): OdfStyles {
  const styles = new OdfStyles()
  readPart(
    archive,
    'styles.xml',
    onOpen((name, attributes) => styles.open(name, attributes)),
  )
  return styles
}

/** What is passed over with all that is in it. */
const SKIPPED = new Set(
  `office:annotation office:forms text:tracked-changes text:note-citation text:ruby-text text:sequence-decls svg:title
  svg:desc`.split(/\s+/),
)
/** What a slide takes from its master. */
const MASTER_CLASSES = new Set(['header', 'footer', 'date-time', 'page-number'])
const PARAGRAPHS = new Set(['p', 'h'])
const LEVELS_OPEN_MAX = 200

interface OpenList {
  readonly style: string | undefined
  /** Whether the next paragraph begins an item. */
  isItemNew: boolean
}

/** Reads paragraphs, lists and tables. Each `draw:page` gets a writer of its own; the first writer is for all else. */
class OdfTextReader implements XmlReader {
  readonly styles: OdfStyles
  readonly writers: DocumentWriter[] = [new DocumentWriter()]
  readonly lists: OpenList[] = []
  readonly formats: TextFormat[] = []
  readonly links: (string | undefined)[] = []
  /** Texts of the notes so far. */
  readonly #notes: string[] = []
  /** The class of the frame that is open, on a slide. */
  frame: string | undefined
  /** Whether what comes stands in the notes of a speaker. */
  #inSpeakerNotes = false
  #inBody = false
  /** Levels of what is passed over. */
  #skipped = 0
  #paragraphs = 0
  #inNote = false

  constructor(styles: OdfStyles) {
    this.styles = styles
  }

  get writer(): DocumentWriter {
    return this.writers.at(-1) ?? this.newPage()
  }

  open(name: string, attributes: XmlAttributes, qualified: string): void {
    if (this.#skipped > 0 || SKIPPED.has(qualified) || MASTER_CLASSES.has(frameClass(name, attributes) ?? '')) {
      this.#skipped += 1
    } else if (name === 'body') this.#inBody = true
    else if (!this.#inBody) this.styles.open(name, attributes)
    else if (PARAGRAPHS.has(name)) this.#openParagraph(name, attributes)
    else if (name === 'note') this.#openNote()
    else if (name === 'notes') this.#openSpeakerNotes()
    else if (!this.#inNote) OPENED.get(name)?.(this, attributes)
  }

  close(name: string): void {
    if (this.#skipped > 0) this.#skipped -= 1
    else if (name === 'note') this.#inNote = false
    else if (name === 'notes') this.#inSpeakerNotes = false
    else if (!this.#inBody) return
    else if (PARAGRAPHS.has(name)) this.#closeParagraph()
    else if (!this.#inNote) CLOSED.get(name)?.(this)
  }

  text(text: string): void {
    if (this.#skipped > 0 || !this.#inBody || this.#paragraphs === 0) return
    this.write(text.replaceAll(/\s+/g, ' '))
  }

  write(text: string): void {
    const note = this.#notes.length - 1
    if (this.#inNote) this.#notes[note] += text
    else this.writer.text(text, { ...this.formats.at(-1), href: this.links.at(-1) })
  }

  newPage(): DocumentWriter {
    const writer = new DocumentWriter()
    this.writers.push(writer)
    return writer
  }

  /** Writes the notes behind the text. */
  finish(): readonly DocumentWriter[] {
    for (const [index, note] of this.#notes.entries()) {
      this.writers[0]?.openNote(index + 1)
      this.writers[0]?.text(note.trim())
      this.writers[0]?.closeNote()
    }
    return this.writers
  }

  openSpan(attributes: XmlAttributes): void {
    const format = { ...this.formats.at(-1), ...this.styles.formatOf(attributes.get('style-name')) }
    if (this.formats.length < LEVELS_OPEN_MAX) this.formats.push(format)
  }

  #openParagraph(name: string, attributes: XmlAttributes): void {
    this.#paragraphs += 1
    if (this.#inNote) this.#notes[this.#notes.length - 1] += '\n'
    else this.writer.openParagraph(this.#kindOf(name, attributes))
  }

  #closeParagraph(): void {
    this.#paragraphs = Math.max(0, this.#paragraphs - 1)
    if (!this.#inNote) this.writer.closeParagraph()
  }

  #kindOf(name: string, attributes: XmlAttributes): ParagraphKind {
    if (this.#inSpeakerNotes) return { quote: true }
    if (this.frame === 'title') return { heading: 2 }
    if (name === 'h') return { heading: Number(attributes.get('outline-level')) || 1 }
    const list = this.lists.at(-1)
    if (!list) return this.styles.kindOf(attributes.get('text:style-name'))
    const continues = !list.isItemNew
    list.isItemNew = false
    const level = this.lists.length - 1
    return { list: { level, ordered: this.styles.isOrdered(list.style, level + 1), continues } }
  }

  #openNote(): void {
    if (this.#inNote || this.#paragraphs === 0) return
    this.writer.noteMark(this.#notes.push(''))
    this.#inNote = true
  }

  #openSpeakerNotes(): void {
    this.#inSpeakerNotes = true
    this.frame = undefined
  }
}

const frameClass = (name: string, attributes: XmlAttributes) =>
  name === 'frame' ? attributes.get('presentation:class') : undefined

type Handler = (reader: OdfTextReader, attributes: XmlAttributes) => void

const spanOf = (attributes: XmlAttributes, direction: 'columns' | 'rows') =>
  Number(attributes.get(`number-${direction}-spanned`)) || 1

const OPENED = new Map<string, Handler>(
  Object.entries<Handler>({
    page: (reader) => reader.newPage(),
    frame: (reader, attributes) => (reader.frame = frameClass('frame', attributes)),
    list: (reader, attributes) =>
      reader.lists.push({ style: attributes.get('style-name') ?? reader.lists.at(-1)?.style, isItemNew: true }),
    'list-item': (reader) => startItem(reader),
    'list-header': (reader) => startItem(reader),
    span: (reader, attributes) => reader.openSpan(attributes),
    a: (reader, attributes) => reader.links.push(outside(attributes.get('href'))),
    s: (reader) => reader.write(' '),
    tab: (reader) => reader.write(' '),
    'line-break': (reader) => reader.write('\n'),
    table: (reader) => reader.writer.openTable(),
    'table-row': (reader) => reader.writer.openRow(),
    'table-cell': (reader, attributes) =>
      reader.writer.openCell(spanOf(attributes, 'columns'), spanOf(attributes, 'rows')),
  }),
)

const CLOSED = new Map<string, (reader: OdfTextReader) => void>(
  Object.entries<(reader: OdfTextReader) => void>({
    frame: (reader) => (reader.frame = undefined),
    list: (reader) => reader.lists.pop(),
    span: (reader) => reader.formats.pop(),
    a: (reader) => reader.links.pop(),
    table: (reader) => reader.writer.closeTable(),
    'table-row': (reader) => reader.writer.closeRow(),
    'table-cell': (reader) => reader.writer.closeCell(),
  }),
)

function startItem(reader: OdfTextReader): void {
  const list = reader.lists.at(-1)
  if (list) list.isItemNew = true
}

/** A link into the document itself is of no use outside of it. */
const outside = (href: string | undefined) => (href === undefined || href.startsWith('#') ? undefined : href)
