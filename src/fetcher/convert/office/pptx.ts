import { readXml, type XmlReader } from '../xml/read-xml.ts'
import type { XmlAttributes } from '../xml/xml-attributes.ts'
import { DocumentWriter, type ParagraphKind, type TextFormat } from './document-writer.ts'
import { onOpen, partOf, readNeeded, readPart, type Relationship, relationshipsOf, sourceNeeded } from './opc.ts'
import type { ZipArchive } from './zip.ts'

const SLIDES_MAX = 10_000

/** One slide. It is read when it is asked for. */
export type Slide = () => DocumentWriter

/**
 * The slides of a PowerPoint presentation, in their order, hidden ones as well.
 * @throws {OfficeError} `bad_document`
 */
export function readPptx(archive: ZipArchive): readonly Slide[] {
  const part = partOf(relationshipsOf(archive, ''), 'officeDocument', 'ppt/presentation.xml')
  const relationships = relationshipsOf(archive, part)
  const parts: string[] = []
  const reader = onOpen((name, attributes) => {
    const target = name === 'sldId' ? relationships.get(attributes.getPrefixed('id') ?? '')?.target : undefined
    if (target !== undefined && parts.length < SLIDES_MAX) parts.push(target)
  })
  readNeeded(archive, part, reader)
  return parts.map((slide) => () => readSlide(archive, slide))
}

/** The title comes first, the notes of the speaker last. */
function readSlide(archive: ZipArchive, part: string): DocumentWriter {
  const relationships = relationshipsOf(archive, part)
  const writer = new DocumentWriter()
  const source = sourceNeeded(archive, part)
  for (const kind of ['title', 'rest'] as const) readXml(source, new SlideReader(writer, relationships, kind))
  const notes = partOf(relationships, 'notesSlide', '')
  if (notes !== '') readPart(archive, notes, new SlideReader(writer, relationshipsOf(archive, notes), 'notes'))
  return writer
}

const TITLES = new Set(['title', 'ctrTitle'])
/** What a slide takes from its master, and the picture of the slide on its notes. */
const MASTER_TYPES = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg'])
const BULLETS = new Set(['buChar', 'buAutoNum', 'buBlip'])

interface OpenParagraph {
  level: number
  bullet: 'none' | 'char' | 'number' | undefined
  isWritten: boolean
}

/** Reads the shapes of a slide, or of its notes, that belong to one part of what is written. */
class SlideReader implements XmlReader {
  readonly writer: DocumentWriter
  readonly #relationships: ReadonlyMap<string, Relationship>
  readonly #part: 'title' | 'rest' | 'notes'
  /** What a placeholder is for; empty for one with bullets, undefined for a shape that is no placeholder. */
  #placeholder: string | undefined
  #paragraph: OpenParagraph | undefined
  #format: TextFormat = {}
  #inText = false
  #inRun = false
  #fallbacks = 0
  #tables = 0

  constructor(
    writer: DocumentWriter,
    relationships: ReadonlyMap<string, Relationship>,
    part: 'title' | 'rest' | 'notes',
  ) {
    this.writer = writer
    this.#relationships = relationships
    this.#part = part
  }

  open(name: string, attributes: XmlAttributes): void {
    if (this.#fallbacks > 0 || name === 'Fallback') this.#fallbacks += 1
    else if (name === 'sp') this.#placeholder = undefined
    else if (name === 'ph') this.#placeholder = attributes.get('type') ?? ''
    else if (this.#isRead()) this.#openText(name, attributes)
  }

  close(name: string): void {
    if (this.#fallbacks > 0) this.#fallbacks -= 1
    else if (name === 'sp') this.#placeholder = undefined
    else if (this.#isRead()) this.#closeText(name)
  }

  text(text: string): void {
    if (this.#fallbacks === 0 && this.#inText && this.#isRead()) this.#write(text)
  }

  #isRead(): boolean {
    const type = this.#placeholder
    if (type !== undefined && MASTER_TYPES.has(type)) return false
    if (this.#part === 'notes') return type === 'body'
    return (type !== undefined && TITLES.has(type)) === (this.#part === 'title')
  }

  #openText(name: string, attributes: XmlAttributes): void {
    switch (name) {
      case 'p':
        this.#paragraph = { level: 0, bullet: undefined, isWritten: false }
        break
      case 'pPr':
        if (this.#paragraph) this.#paragraph.level = Number(attributes.get('lvl')) || 0
        break
      case 'buNone':
        if (this.#paragraph) this.#paragraph.bullet = 'none'
        break
      case 'r':
      case 'fld':
        this.#inRun = true
        this.#format = {}
        break
      case 'rPr':
        if (this.#inRun) this.#format = formatOf(attributes)
        break
      case 'hlinkClick':
        if (this.#inRun) this.#format = { ...this.#format, href: this.#targetOf(attributes.getPrefixed('id')) }
        break
      case 't':
        this.#inText = true
        break
      case 'br':
        this.#write('\n')
        break
      default:
        if (BULLETS.has(name) && this.#paragraph) this.#paragraph.bullet = name === 'buAutoNum' ? 'number' : 'char'
        else this.#openTable(name)
    }
  }

  #openTable(name: string): void {
    if (name === 'tbl') {
      this.#tables += 1
      this.writer.openTable()
    } else if (name === 'tr') this.writer.openRow()
    // Cells that another one covers are there, too, so that no cell needs to span.
    else if (name === 'tc') this.writer.openCell()
  }

  #closeText(name: string): void {
    switch (name) {
      case 'p':
        if (this.#paragraph?.isWritten) this.writer.closeParagraph()
        this.#paragraph = undefined
        break
      case 'r':
      case 'fld':
        this.#inRun = false
        this.#format = {}
        break
      case 't':
        this.#inText = false
        break
      case 'tc':
        this.writer.closeCell()
        break
      case 'tr':
        this.writer.closeRow()
        break
      case 'tbl':
        this.#tables -= 1
        this.writer.closeTable()
        break
    }
  }

  /** The writer learns of a paragraph with its first text, since its bullet is told after it has begun. */
  #write(text: string): void {
    if (!this.#paragraph) return
    if (!this.#paragraph.isWritten) this.writer.openParagraph(this.#kindOf(this.#paragraph))
    this.#paragraph.isWritten = true
    this.writer.text(text, this.#format)
  }

  #kindOf({ level, bullet }: OpenParagraph): ParagraphKind {
    if (this.#part === 'title') return { heading: 2 }
    if (this.#part === 'notes') return { quote: true }
    const hasBullet = bullet === undefined ? this.#placeholder === '' && this.#tables === 0 : bullet !== 'none'
    return hasBullet ? { list: { level, ordered: bullet === 'number' } } : {}
  }

  #targetOf(id: string | undefined): string | undefined {
    const relationship = this.#relationships.get(id ?? '')
    return relationship?.isExternal ? relationship.target : undefined
  }
}

const isOn = (value: string | undefined) => value === '1' || value === 'true'

function formatOf(attributes: XmlAttributes): TextFormat {
  const strike = attributes.get('strike')
  const baseline = Number.parseFloat(attributes.get('baseline') ?? '0')
  return {
    bold: isOn(attributes.get('b')),
    italic: isOn(attributes.get('i')),
    strike: strike !== undefined && strike !== 'noStrike',
    raised: baseline > 0 ? 'sup' : baseline < 0 ? 'sub' : undefined,
  }
}
