import type { XmlReader } from '../xml/read-xml.ts'
import type { XmlAttributes } from '../xml/xml-attributes.ts'
import { DocumentWriter, type ParagraphKind, type TextFormat } from './document-writer.ts'
import { type DocxNumbering, readNumbering } from './docx-numbering.ts'
import { type DocxStyles, headingOf, isOn, readStyles } from './docx-styles.ts'
import { partOf, readNeeded, readPart, type Relationship, relationshipsOf } from './opc.ts'
import type { ZipArchive } from './zip.ts'

/**
 * Reads a Word document. Deleted and hidden text, comments, headers and footers are left out; notes stand at the end.
 * @throws {OfficeError} `bad_document`
 */
export function readDocx(archive: ZipArchive): DocumentWriter {
  const part = partOf(relationshipsOf(archive, ''), 'officeDocument', 'word/document.xml')
  const relationships = relationshipsOf(archive, part)
  const context: DocxContext = {
    writer: new DocumentWriter(),
    styles: readStyles(archive, partOf(relationships, 'styles', 'word/styles.xml')),
    numbering: readNumbering(archive, partOf(relationships, 'numbering', 'word/numbering.xml')),
    notes: new Map(),
  }
  readNeeded(archive, part, new DocxReader(context, relationships))
  for (const kind of ['footnote', 'endnote'] as const) {
    const notes = partOf(relationships, `${kind}s`, `word/${kind}s.xml`)
    readPart(archive, notes, new DocxReader(context, relationshipsOf(archive, notes)))
  }
  return context.writer
}

interface DocxContext {
  readonly writer: DocumentWriter
  readonly styles: DocxStyles
  readonly numbering: DocxNumbering
  /** The number of each note that the text refers to, by its kind and id. */
  readonly notes: Map<string, number>
}

/** What is passed over with all that is in it: earlier versions, doubles for old readers, and what is no text. */
const SKIPPED = new Set(
  'del moveFrom pPrChange rPrChange sectPrChange tblPrChange tcPrChange trPrChange Fallback rt sdtPr sectPr'.split(' '),
)
const NOTES = new Set(['footnote', 'endnote'])
const PAGE_BREAKS = new Set(['page', 'column'])
const INSTRUCTION_LENGTH_MAX = 10_000
/** Fields in fields. */
const FIELDS_OPEN_MAX = 50

interface OpenParagraph {
  style?: string | undefined
  numberId?: string | undefined
  level?: number | undefined
  heading?: number | undefined
  /** The writer learns of a paragraph once its properties are known. */
  isWritten: boolean
}

interface OpenCell {
  columns: number
  isWritten: boolean
}

interface OpenField {
  instruction: string
  href: string | undefined
}

type RunFormat = { -readonly [K in keyof TextFormat]: TextFormat[K] } & { hidden: boolean }

type Handler = (reader: DocxReader, attributes: XmlAttributes) => void

class DocxReader implements XmlReader {
  readonly #context: DocxContext
  readonly #relationships: ReadonlyMap<string, Relationship>
  readonly paragraphs: OpenParagraph[] = []
  readonly cells: OpenCell[] = []
  readonly links: (string | undefined)[] = []
  readonly fields: OpenField[] = []
  /** Levels of what is passed over. */
  #skipped = 0
  inRun = false
  run: RunFormat = { hidden: false }
  /** What the text that comes next is. */
  reads: 'text' | 'instruction' | undefined

  constructor(context: DocxContext, relationships: ReadonlyMap<string, Relationship>) {
    this.#context = context
    this.#relationships = relationships
  }

  get writer(): DocumentWriter {
    return this.#context.writer
  }

  open(name: string, attributes: XmlAttributes): void {
    // The properties of a paragraph hold those of its mark, which is no text.
    const isMark = name === 'rPr' && !this.inRun
    if (this.#skipped > 0 || isMark || SKIPPED.has(name) || (NOTES.has(name) && !this.#openNote(name, attributes))) {
      this.#skipped += 1
    } else OPENED.get(name)?.(this, attributes)
  }

  close(name: string): void {
    if (this.#skipped > 0) this.#skipped -= 1
    else if (NOTES.has(name)) this.writer.closeNote()
    else CLOSED.get(name)?.(this)
  }

  text(text: string): void {
    const field = this.fields.at(-1)
    if (this.#skipped > 0 || this.reads === undefined) return
    if (this.reads === 'text') this.write(text)
    else if (field && field.instruction.length < INSTRUCTION_LENGTH_MAX) field.instruction += text
  }

  write(text: string): void {
    const { hidden, ...format } = this.run
    if (hidden) return
    this.startParagraph()
    this.writer.text(text, { ...format, href: this.links.at(-1) ?? this.fields.findLast(({ href }) => href)?.href })
  }

  /** A note is read if the text refers to it; others are marks of the program. */
  #openNote(kind: string, attributes: XmlAttributes): boolean {
    const number = this.#context.notes.get(`${kind} ${attributes.get('id')}`)
    if (number !== undefined) this.writer.openNote(number)
    return number !== undefined
  }

  noteMark(kind: string, attributes: XmlAttributes): void {
    const { notes } = this.#context
    const key = `${kind} ${attributes.get('id')}`
    const number = notes.get(key) ?? notes.size + 1
    notes.set(key, number)
    this.startParagraph()
    this.writer.noteMark(number)
  }

  openField(instruction: string): void {
    if (this.fields.length < FIELDS_OPEN_MAX) this.fields.push(fieldOf(instruction))
  }

  startParagraph(): void {
    const paragraph = this.paragraphs.at(-1)
    if (!paragraph || paragraph.isWritten) return
    this.startCell()
    paragraph.isWritten = true
    this.writer.openParagraph(this.#kindOf(paragraph))
  }

  startCell(): void {
    const cell = this.cells.at(-1)
    if (!cell || cell.isWritten) return
    cell.isWritten = true
    this.writer.openCell(cell.columns)
  }

  #kindOf(paragraph: OpenParagraph): ParagraphKind {
    const style = this.#context.styles(paragraph.style)
    const heading = paragraph.heading ?? style.heading
    if (heading !== undefined) return { heading }
    if (style.isCode) return { code: true }
    const numberId = paragraph.numberId ?? style.numberId
    if (numberId === undefined) return {}
    return { list: this.#context.numbering(numberId, paragraph.level ?? style.level ?? 0) }
  }

  setRunStyle(id: string | undefined): void {
    const { bold, italic } = this.#context.styles(id)
    if (bold) this.run.bold = true
    if (italic) this.run.italic = true
  }

  /** Where a hyperlink of the document leads; undefined for a place in the document itself. */
  targetOf(id: string | undefined): string | undefined {
    const relationship = this.#relationships.get(id ?? '')
    return relationship?.isExternal ? relationship.target : undefined
  }
}

const valueOf = (attributes: XmlAttributes) => attributes.get('val')

const OPENED = new Map<string, Handler>(
  Object.entries<Handler>({
    p: (reader) => {
      reader.startParagraph()
      reader.startCell()
      reader.paragraphs.push({ isWritten: false })
      reader.inRun = false
    },
    pStyle: (reader, attributes) => setOn(reader.paragraphs, { style: valueOf(attributes) }),
    numId: (reader, attributes) => setOn(reader.paragraphs, { numberId: valueOf(attributes) }),
    ilvl: (reader, attributes) => setOn(reader.paragraphs, { level: Number(valueOf(attributes)) || 0 }),
    outlineLvl: (reader, attributes) => setOn(reader.paragraphs, { heading: headingOf(valueOf(attributes)) }),

    tbl: (reader) => {
      reader.startCell()
      reader.writer.openTable()
    },
    tr: (reader) => reader.writer.openRow(),
    tc: (reader) => reader.cells.push({ columns: 1, isWritten: false }),
    gridSpan: (reader, attributes) => setOn(reader.cells, { columns: Number(valueOf(attributes)) || 1 }),

    r: (reader) => {
      reader.inRun = true
      reader.run = { hidden: false }
    },
    rStyle: (reader, attributes) => reader.setRunStyle(valueOf(attributes)),
    b: (reader, attributes) => (reader.run.bold = isOn(valueOf(attributes))),
    i: (reader, attributes) => (reader.run.italic = isOn(valueOf(attributes))),
    strike: (reader, attributes) => (reader.run.strike = isOn(valueOf(attributes))),
    dstrike: (reader, attributes) => (reader.run.strike = isOn(valueOf(attributes))),
    vanish: (reader, attributes) => (reader.run.hidden = isOn(valueOf(attributes))),
    vertAlign: (reader, attributes) => (reader.run.raised = raisedBy(valueOf(attributes))),

    t: (reader) => (reader.reads = 'text'),
    tab: (reader) => reader.inRun && reader.write(' '),
    br: (reader, attributes) => !PAGE_BREAKS.has(attributes.get('type') ?? '') && reader.write('\n'),
    cr: (reader) => reader.write('\n'),
    noBreakHyphen: (reader) => reader.write('\u2011'),
    footnoteReference: (reader, attributes) => reader.noteMark('footnote', attributes),
    endnoteReference: (reader, attributes) => reader.noteMark('endnote', attributes),

    hyperlink: (reader, attributes) => reader.links.push(reader.targetOf(attributes.getPrefixed('id'))),
    fldSimple: (reader, attributes) => reader.openField(attributes.get('instr') ?? ''),
    instrText: (reader) => (reader.reads = 'instruction'),
    fldChar: (reader, attributes) => {
      const type = attributes.get('fldCharType')
      if (type === 'begin') reader.openField('')
      else if (type === 'end') reader.fields.pop()
      else Object.assign(reader.fields.at(-1) ?? {}, fieldOf(reader.fields.at(-1)?.instruction ?? ''))
    },
  }),
)

const CLOSED = new Map<string, (reader: DocxReader) => void>(
  Object.entries<(reader: DocxReader) => void>({
    t: (reader) => (reader.reads = undefined),
    instrText: (reader) => (reader.reads = undefined),
    r: (reader) => (reader.inRun = false),
    hyperlink: (reader) => reader.links.pop(),
    fldSimple: (reader) => reader.fields.pop(),
    p: (reader) => {
      if (reader.paragraphs.pop()?.isWritten) reader.writer.closeParagraph()
    },
    tc: (reader) => {
      reader.startCell()
      reader.cells.pop()
      reader.writer.closeCell()
    },
    tr: (reader) => reader.writer.closeRow(),
    tbl: (reader) => reader.writer.closeTable(),
  }),
)

const raisedBy = (value: string | undefined) =>
  value === 'superscript' ? 'sup' : value === 'subscript' ? 'sub' : undefined

function setOn<T extends OpenParagraph | OpenCell>(open: readonly T[], properties: Partial<T>): void {
  const last = open.at(-1)
  if (last && !last.isWritten) Object.assign(last, properties)
}

/** A field whose instruction is a hyperlink to the outside has a link. */
function fieldOf(instruction: string): OpenField {
  return { instruction, href: /^\s*HYPERLINK\s+"([^"]+)"/i.exec(instruction)?.[1] }
}
