import { readXml, type XmlReader } from '../xml/read-xml.ts'
import type { XmlAttributes } from '../xml/xml-attributes.ts'
import { onOpen, partOf, readNeeded, readPart, type Relationship, relationshipsOf, sourceOf } from './opc.ts'
import { WorkbookWriter } from './workbook-writer.ts'
import { type NumberFormat, readFormats } from './xlsx-formats.ts'
import { numberText } from './xlsx-numbers.ts'
import type { ZipArchive } from './zip.ts'

const SHEETS_MAX = 1_000
const SHARED_STRINGS_MAX = 5_000_000
/** The last column there is, XFD, from 0. */
const COLUMN_MAX = 16_383

/**
 * Reads the sheets of an Excel workbook: values, not formulas. Hidden sheets and rows count, they are data.
 * @throws {OfficeError} `bad_document`
 */
export function readXlsx(archive: ZipArchive): WorkbookWriter {
  const part = partOf(relationshipsOf(archive, ''), 'officeDocument', 'xl/workbook.xml')
  const relationships = relationshipsOf(archive, part)
  const { sheets, isFrom1904 } = readWorkbook(archive, part, relationships)
  const strings = readStrings(archive, partOf(relationships, 'sharedStrings', 'xl/sharedStrings.xml'))
  const formats = readFormats(archive, partOf(relationships, 'styles', 'xl/styles.xml'))
  const writer = new WorkbookWriter()
  for (const sheet of sheets) {
    const source = writer.isCut ? undefined : sourceOf(archive, sheet.part)
    if (source === undefined) continue
    const links = readLinks(source, relationshipsOf(archive, sheet.part))
    writer.openSheet(sheet.name)
    readXml(source, new SheetReader(writer, { strings, formats, isFrom1904, links }))
  }
  return writer
}

function readWorkbook(archive: ZipArchive, part: string, relationships: ReadonlyMap<string, Relationship>) {
  const sheets: { readonly name: string; readonly part: string }[] = []
  let isFrom1904 = false
  const reader = onOpen((name, attributes) => {
    if (name === 'workbookPr') isFrom1904 = /^(?:1|true)$/.test(attributes.get('date1904') ?? '')
    const target = name === 'sheet' ? relationships.get(attributes.getPrefixed('id') ?? '')?.target : undefined
    if (target === undefined || sheets.length >= SHEETS_MAX) return
    sheets.push({ name: attributes.get('name') ?? '', part: target })
  })
  readNeeded(archive, part, reader)
  return { sheets, isFrom1904 }
}

/** The texts that cells refer to by number. */
function readStrings(archive: ZipArchive, part: string): readonly string[] {
  const strings: string[] = []
  let text = ''
  const rich = new RichText()
  readPart(archive, part, {
    open: (name) => {
      if (name === 'si') text = ''
      rich.open(name)
    },
    close: (name) => {
      rich.close(name)
      if (name === 'si' && strings.length < SHARED_STRINGS_MAX) strings.push(text)
    },
    text: (piece) => {
      if (rich.isText) text += piece
    },
  })
  return strings
}

/** Follows text that comes in runs, without the readings that stand above Chinese characters. */
class RichText {
  #phonetic = 0
  #inText = false

  get isText(): boolean {
    return this.#inText && this.#phonetic === 0
  }

  open(name: string): void {
    if (name === 'rPh') this.#phonetic += 1
    else if (name === 't') this.#inText = true
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic -= 1
    else if (name === 't') this.#inText = false
  }
}

/** Where the cells of a sheet link to, by their names. The list stands behind the cells. */
function readLinks(source: string, relationships: ReadonlyMap<string, Relationship>): ReadonlyMap<string, string> {
  const links = new Map<string, string>()
  const start = source.lastIndexOf('hyperlinks>', source.lastIndexOf('hyperlinks>') - 1)
  if (start < 0) return links
  const reader = onOpen((name, attributes) => {
    const target = name === 'hyperlink' ? relationships.get(attributes.getPrefixed('id') ?? '') : undefined
    if (target?.isExternal) links.set(attributes.get('ref') ?? '', target.target)
  })
  readXml(source.slice(start), reader)
  return links
}

interface SheetContext {
  readonly strings: readonly string[]
  readonly formats: readonly (NumberFormat | undefined)[]
  readonly isFrom1904: boolean
  readonly links: ReadonlyMap<string, string>
}

class SheetReader implements XmlReader {
  readonly #writer: WorkbookWriter
  readonly #context: SheetContext
  readonly #rich = new RichText()
  #cell: XmlAttributes | undefined
  #column = -1
  #inValue = false
  #value = ''

  constructor(writer: WorkbookWriter, context: SheetContext) {
    this.#writer = writer
    this.#context = context
  }

  open(name: string, attributes: XmlAttributes): void {
    this.#rich.open(name)
    if (name === 'row') this.#column = -1
    else if (name === 'v') this.#inValue = true
    else if (name === 'c') {
      this.#cell = attributes
      this.#value = ''
      this.#column = columnOf(attributes.get('r')) ?? this.#column + 1
    }
  }

  close(name: string): void {
    this.#rich.close(name)
    if (name === 'row') this.#writer.closeRow()
    else if (name === 'v') this.#inValue = false
    else if (name === 'c' && this.#cell) {
      const href = this.#context.links.get(this.#cell.get('r') ?? '')
      if (this.#column <= COLUMN_MAX) this.#writer.cell(this.#column, this.#textOf(this.#cell), href)
      this.#cell = undefined
    }
  }

  text(text: string): void {
    if (this.#cell && (this.#inValue || this.#rich.isText)) this.#value += text
  }

  #textOf(cell: XmlAttributes): string {
    const { strings, formats, isFrom1904 } = this.#context
    switch (cell.get('t')) {
      case 's':
        return strings[Number(this.#value)] ?? ''
      case 'b':
        return this.#value === '1' ? 'TRUE' : 'FALSE'
      case 'inlineStr':
      case 'str':
      case 'e':
      case 'd':
        return this.#value
      case undefined:
      default:
        return numberText(this.#value, formats[Number(cell.get('s') ?? 0)], isFrom1904)
    }
  }
}

/** The column of a cell name such as `AB12`, from 0. */
function columnOf(name: string | undefined): number | undefined {
  const letters = /^[A-Za-z]{1,3}/.exec(name ?? '')?.[0]
  if (letters === undefined) return undefined
  let column = 0
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}
