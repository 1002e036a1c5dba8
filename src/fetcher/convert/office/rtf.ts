import { TextDecoder } from '@exodus/bytes/encoding.js'

import type { DocumentMeta } from '../document.ts'
import { DocumentWriter, type ListPlace, type ParagraphKind, type TextFormat } from './document-writer.ts'
import { headingOf } from './docx-styles.ts'
import { charsetOfCodePage, charsetOfFont } from './rtf-charsets.ts'
import { RtfLists, RtfStyles } from './rtf-tables.ts'
import { type RtfReader, readRtf } from './rtf-tokens.ts'

/** What an RTF document holds. */
export interface RtfDocument {
  readonly writer: DocumentWriter
  readonly meta: DocumentMeta
}

/** Reads an RTF document. Deleted and hidden text, headers and footers are left out; notes stand at the end. */
export function readRtfDocument(body: Uint8Array): RtfDocument {
  const reader = new RtfDocumentReader()
  readRtf(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'), reader)
  return reader.finish()
}

/** Groups in groups; what stands in deeper ones is left out. */
const GROUPS_MAX = 1_000
const VALUE_LENGTH_MAX = 1_000
const INSTRUCTION_LENGTH_MAX = 10_000

/** What a group holds. */
type Destination =
  | 'text'
  | 'skipped'
  | 'fonts'
  | 'styles'
  | 'lists'
  | 'instruction'
  | 'note'
  | 'marker'
  | 'title'
  | 'author'
  | 'created'
  | 'revised'

/** Words at the start of a group that tell what it holds. */
const DESTINATIONS = new Map<string, Destination>([
  ['fonttbl', 'fonts'],
  ['stylesheet', 'styles'],
  ['listtable', 'lists'],
  ['listoverridetable', 'lists'],
  ['fldinst', 'instruction'],
  ['footnote', 'note'],
  ['listtext', 'marker'],
  ['pntext', 'marker'],
  ['title', 'title'],
  ['author', 'author'],
  ['creatim', 'created'],
  ['revtim', 'revised'],
  ['shpinst', 'text'],
  ...`info colortbl pict sp header headerl headerr headerf footer footerl footerr footerf xe tc tcn nonshppict
  annotation falt panose leveltext levelnumbers listname subject operator keywords comment doccomm company manager
  category hlinkbase printim buptim`
    .split(/\s+/)
    .map((word) => [word, 'skipped'] as const),
])
/** Destinations that hold groups of their own, in which nothing else can begin. */
const CLOSED_DESTINATIONS = new Set<Destination>(['skipped', 'marker', 'fonts'])
/** What stands in the information about the document, which is no text in itself. */
const INFORMATION = new Set<Destination>(['title', 'author', 'created', 'revised'])

interface Field {
  instruction: string
}

interface ParagraphState {
  readonly style: number
  readonly list: number | undefined
  readonly level: number
  readonly heading: number | undefined
  readonly inTable: boolean
}

const PLAIN: ParagraphState = { style: 0, list: undefined, level: 0, heading: undefined, inTable: false }

/** What holds until the end of a group. */
interface Group {
  destination: Destination
  /** Whether nothing but `\*` has come. */
  isFresh: boolean
  /** Whether it is to be passed over if its word is unknown. */
  isOptional: boolean
  charset: string | undefined
  /** Characters behind `\u` that stand for the same, for readers without Unicode. */
  fallbacks: number
  format: TextFormat
  isHidden: boolean
  paragraph: ParagraphState
  field: Field | undefined
}

const SPECIAL = new Map<string, string>([
  ['tab', ' '],
  ['line', '\n'],
  ['lbr', '\n'],
  ['nestcell', ' '],
  ['nestrow', '\n'],
  ['~', '\u00A0'],
  ['_', '\u2011'],
  ['emdash', '\u2014'],
  ['endash', '\u2013'],
  ['bullet', '\u2022'],
  ['lquote', '\u2018'],
  ['rquote', '\u2019'],
  ['ldblquote', '\u201C'],
  ['rdblquote', '\u201D'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
  ['{', '{'],
  ['}', '}'],
  ['\\', '\\'],
])
const PARAGRAPH_ENDS = new Set(['par', 'sect', 'page', '\n', '\r'])
const DATE_PARTS = ['yr', 'mo', 'dy', 'hr', 'min', 'sec']

class RtfDocumentReader implements RtfReader {
  readonly #writer = new DocumentWriter()
  readonly #styles = new RtfStyles()
  readonly #lists = new RtfLists()
  readonly #fonts = new Map<number, string | undefined>()
  readonly #decoders = new Map<string, InstanceType<typeof TextDecoder>>()
  readonly #notes: string[] = []
  readonly #values = { title: '', author: '' }
  readonly #dates = { created: new Map<string, number>(), revised: new Map<string, number>() }
  readonly #groups: Group[] = []
  #group: Group = {
    destination: 'text',
    isFresh: true,
    isOptional: false,
    charset: undefined,
    fallbacks: 1,
    format: {},
    isHidden: false,
    paragraph: PLAIN,
    field: undefined,
  }
  /** Groups that are open beyond the limit. */
  #tooDeep = 0
  #charset = charsetOfCodePage(0)
  #font = 0
  /** Bytes that are not decoded yet, as a character may have several. */
  #bytes = ''
  #bytesSkipped = 0
  /** The bullet or number of the paragraph as text, for documents without a table of lists. */
  #marker = ''
  #isParagraphOpen = false
  #table = { isOpen: false, inRow: false, inCell: false }

  openGroup(): void {
    this.#flush()
    if (this.#groups.length >= GROUPS_MAX) {
      this.#tooDeep += 1
      return
    }
    this.#groups.push(this.#group)
    this.#group = { ...this.#group, isFresh: true, isOptional: false }
    if (this.#group.destination === 'styles') this.#styles.open()
  }

  closeGroup(): void {
    this.#flush()
    if (this.#tooDeep > 0) {
      this.#tooDeep -= 1
      return
    }
    if (this.#group.destination === 'styles') this.#styles.close()
    this.#group = this.#groups.pop() ?? this.#group
  }

  text(bytes: string): void {
    const skipped = Math.min(this.#bytesSkipped, bytes.length)
    this.#bytesSkipped -= skipped
    if (skipped === bytes.length || this.#tooDeep > 0) return
    this.#group.isFresh = false
    if (this.#group.destination !== 'skipped') this.#bytes += bytes.slice(skipped)
  }

  control(word: string, value: number | undefined): void {
    this.#flush()
    const group = this.#group
    if (this.#tooDeep > 0) return
    if (word === '*') {
      group.isOptional = true
      return
    }
    if (group.isFresh && this.#begin(word)) return
    group.isFresh = false
    if (group.destination === 'text' || group.destination === 'note') this.#textWord(word, value)
    else if (group.destination === 'marker' || group.destination === 'instruction') this.#character(word, value)
    else this.#tableWord(group.destination, word, value)
  }

  finish(): RtfDocument {
    this.#flush()
    const writer = this.#writer
    this.#endParagraph()
    this.#endTable()
    for (const [index, note] of this.#notes.entries()) {
      writer.openNote(index + 1)
      writer.text(note.trim())
      writer.closeNote()
    }
    const { title, author } = this.#values
    const { created, revised } = this.#dates
    const told = { title, byline: author, published: dateOf(created), modified: dateOf(revised) }
    const entries = Object.entries(told).map(([name, text]) => [name, text.trim().slice(0, VALUE_LENGTH_MAX)] as const)
    return { writer, meta: Object.fromEntries(entries.filter(([, text]) => text !== '')) }
  }

  /** Takes the first word of a group. @returns whether it tells what the group holds. */
  #begin(word: string): boolean {
    const group = this.#group
    const destination = DESTINATIONS.get(word) ?? (group.isOptional ? 'skipped' : undefined)
    group.isFresh = false
    if (word === 'field') group.field = { instruction: '' }
    else if (word === 'fldrslt') group.format = { ...group.format, href: linkOf(group.field) }
    const isClosed = CLOSED_DESTINATIONS.has(group.destination) && !(destination && INFORMATION.has(destination))
    if (destination === undefined || isClosed) return false
    group.destination = destination
    if (destination === 'note') this.#beginNote()
    if (destination === 'marker') this.#marker = ''
    return true
  }

  #beginNote(): void {
    this.#startParagraph()
    this.#writer.noteMark(this.#notes.push(''))
  }

  #textWord(word: string, value: number | undefined): void {
    if (PARAGRAPH_ENDS.has(word)) this.#endLine()
    else if (word === 'cell') this.#endCell()
    else if (word === 'row') this.#endRow()
    else if (!this.#character(word, value) && !this.#paragraphWord(word, value)) this.#formatWord(word, value)
  }

  /** @returns whether the word stands for characters. */
  #character(word: string, value: number | undefined): boolean {
    const special = SPECIAL.get(word)
    if (word === 'u') {
      const code = value ?? 0
      this.#put(String.fromCharCode(code < 0 ? code + 0x1_0000 : code))
      this.#bytesSkipped = this.#group.fallbacks
    } else if (word === 'uc') this.#group.fallbacks = Math.max(0, Math.min(value ?? 1, FALLBACKS_MAX))
    else if (special !== undefined) this.#put(special)
    else return false
    return true
  }

  #paragraphWord(word: string, value: number | undefined): boolean {
    const change = paragraphChange(word, value)
    if (!change) return false
    this.#group.paragraph = { ...this.#group.paragraph, ...change }
    return true
  }

  #formatWord(word: string, value: number | undefined): void {
    const group = this.#group
    const isOn = value !== 0
    if (word === 'plain') {
      group.format = { href: group.format.href }
      group.isHidden = false
    } else if (word === 'v' || word === 'deleted') group.isHidden = isOn
    else if (word === 'f') group.charset = this.#fonts.get(value ?? 0)
    else if (word === 'ansicpg') this.#charset = charsetOfCodePage(value ?? 0)
    else if (word === 'mac') this.#charset = 'macintosh'
    else group.format = { ...group.format, ...formatChange(word, isOn) }
  }

  /** Takes a word of a table at the head of the document. */
  #tableWord(destination: Destination, word: string, value: number | undefined): void {
    if (destination === 'styles') this.#styles.control(word, value)
    else if (destination === 'lists') this.#lists.control(word, value)
    else if (destination === 'fonts') {
      if (word === 'f') this.#font = value ?? 0
      else if (word === 'fcharset' && this.#fonts.size < FONTS_MAX)
        this.#fonts.set(this.#font, charsetOfFont(value ?? 0))
    } else if (destination === 'created' || destination === 'revised') {
      if (DATE_PARTS.includes(word)) this.#dates[destination].set(word, value ?? 0)
    } else this.#character(word, value)
  }

  /** Decodes the bytes that have come. */
  #flush(): void {
    this.#bytesSkipped = 0
    if (this.#bytes === '') return
    const charset = this.#group.charset ?? this.#charset
    const decoder = this.#decoders.get(charset) ?? new TextDecoder(charset)
    this.#decoders.set(charset, decoder)
    const text = decoder.decode(Buffer.from(this.#bytes, 'latin1'))
    this.#bytes = ''
    this.#put(text)
  }

  #put(text: string): void {
    const { destination, field, format, isHidden } = this.#group
    if (destination === 'note') this.#notes[this.#notes.length - 1] += text
    else if (destination === 'instruction') {
      if (field && field.instruction.length < INSTRUCTION_LENGTH_MAX) field.instruction += text
    } else if (destination === 'marker') this.#marker += text
    else if (destination === 'styles') this.#styles.text(text)
    else if (destination === 'title' || destination === 'author') this.#values[destination] += text
    else if (destination === 'text' && !isHidden) {
      this.#startParagraph()
      this.#writer.text(text, format)
    }
  }

  #startParagraph(): void {
    if (this.#isParagraphOpen) return
    if (this.#group.paragraph.inTable) this.#startCell()
    else this.#endTable()
    this.#isParagraphOpen = true
    this.#writer.openParagraph(this.#kindOf(this.#group.paragraph))
    this.#marker = ''
  }

  #endParagraph(): void {
    if (this.#isParagraphOpen) this.#writer.closeParagraph()
    this.#isParagraphOpen = false
    this.#marker = ''
  }

  #endLine(): void {
    if (this.#group.destination === 'note') this.#put('\n')
    else this.#endParagraph()
  }

  #startCell(): void {
    const table = this.#table
    if (!table.isOpen) this.#writer.openTable()
    if (!table.inRow) this.#writer.openRow()
    if (!table.inCell) this.#writer.openCell()
    this.#table = { isOpen: true, inRow: true, inCell: true }
  }

  #endCell(): void {
    this.#endParagraph()
    this.#startCell()
    this.#writer.closeCell()
    this.#table.inCell = false
  }

  #endRow(): void {
    this.#endParagraph()
    if (this.#table.inCell) this.#endCell()
    if (this.#table.inRow) this.#writer.closeRow()
    this.#table.inRow = false
  }

  #endTable(): void {
    if (!this.#table.isOpen) return
    this.#endRow()
    this.#writer.closeTable()
    this.#table.isOpen = false
  }

  #kindOf({ style, heading, list, level }: ParagraphState): ParagraphKind {
    const headingLevel = heading ?? this.#styles.headingOf(style)
    if (headingLevel !== undefined) return { heading: headingLevel }
    return { list: (list === undefined ? undefined : this.#lists.next(list, level)) ?? this.#markedPlace(level) }
  }

  #markedPlace(level: number): ListPlace | undefined {
    const marker = this.#marker.trim()
    if (marker === '') return undefined
    const number = Number.parseInt(marker, 10)
    return { level, ordered: !Number.isNaN(number), number: number || undefined }
  }
}

/** Characters that a document may have for one of Unicode, and fonts. */
const FALLBACKS_MAX = 10
const FONTS_MAX = 10_000

function paragraphChange(word: string, value = 0): Partial<ParagraphState> | undefined {
  if (word === 'pard') return PLAIN
  if (word === 's') return { style: value }
  if (word === 'outlinelevel') return { heading: headingOf(String(value)) }
  if (word === 'ls') return { list: value }
  if (word === 'ilvl') return { level: Math.max(0, Math.min(8, value)) }
  if (word === 'intbl') return { inTable: true }
  return word === 'itap' ? { inTable: value > 0 } : undefined
}

function formatChange(word: string, isOn: boolean): TextFormat {
  if (word === 'b') return { bold: isOn }
  if (word === 'i') return { italic: isOn }
  if (word === 'strike' || word === 'striked') return { strike: isOn }
  if (word === 'super') return { raised: isOn ? 'sup' : undefined }
  if (word === 'sub') return { raised: isOn ? 'sub' : undefined }
  return word === 'nosupersub' ? { raised: undefined } : {}
}

const linkOf = (field: Field | undefined) => /^\s*HYPERLINK\s+"([^"]+)"/i.exec(field?.instruction ?? '')?.[1]

/** ISO 8601 in local time, as the document tells no zone; empty if it tells no date. */
function dateOf(parts: ReadonlyMap<string, number>): string {
  const [year = 0, ...rest] = DATE_PARTS.map((part) => parts.get(part) ?? 0)
  if (year === 0) return ''
  const [month, day, hour, minute, second] = rest.map((part) => String(part).padStart(2, '0'))
  return `${String(year).padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}`
}
