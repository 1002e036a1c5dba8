import type { XmlReader } from '../xml/read-xml.ts'
import type { XmlAttributes } from '../xml/xml-attributes.ts'
import { readNeeded } from './opc.ts'
import { WorkbookWriter } from './workbook-writer.ts'
import type { ZipArchive } from './zip.ts'

/**
 * Reads the sheets of an OpenDocument spreadsheet: what the cells show, dates as ISO 8601. Comments are left out.
 * @throws {OfficeError} `bad_document`
 */
export function readOds(archive: ZipArchive): WorkbookWriter {
  const reader = new OdsReader()
  readNeeded(archive, 'content.xml', reader)
  return reader.writer
}

const CELLS = new Set(['table-cell', 'covered-table-cell'])
const SKIPPED = new Set(['annotation', 'shapes', 'forms', 'tracked-changes'])
/** Columns that a cell with a text may be repeated in, which is more than the narrowest programs have. */
const COLUMNS_REPEATED_MAX = 1_024
const ROWS_REPEATED_MAX = 1_048_576

class OdsReader implements XmlReader {
  readonly writer = new WorkbookWriter()
  #inSheets = false
  #skipped = 0
  #column = 0
  #rowTimes = 1
  #cell: XmlAttributes | undefined
  #text = ''
  #href: string | undefined
  #paragraphs = 0

  open(name: string, attributes: XmlAttributes): void {
    if (this.#skipped > 0 || SKIPPED.has(name)) this.#skipped += 1
    else if (name === 'spreadsheet') this.#inSheets = true
    else if (!this.#inSheets) return
    else if (name === 'table') this.writer.openSheet(attributes.get('table:name') ?? '')
    else if (name === 'table-row') {
      this.#column = 0
      this.#rowTimes = repeats(attributes.get('number-rows-repeated'), ROWS_REPEATED_MAX)
    } else if (CELLS.has(name)) {
      this.#cell = attributes
      this.#text = ''
      this.#href = undefined
      this.#paragraphs = 0
    } else if (name === 'p') {
      if (this.#paragraphs > 0) this.#text += '\n'
      this.#paragraphs += 1
    } else if (name === 'a') this.#href ??= outside(attributes.get('href'))
    else if (name === 's' || name === 'tab') this.#text += ' '
    else if (name === 'line-break') this.#text += '\n'
  }

  close(name: string): void {
    if (this.#skipped > 0) this.#skipped -= 1
    else if (name === 'table-row') this.writer.closeRow(this.#rowTimes)
    else if (CELLS.has(name) && this.#cell) this.#closeCell(this.#cell)
  }

  text(text: string): void {
    if (this.#skipped === 0 && this.#cell && this.#paragraphs > 0) this.#text += text
  }

  #closeCell(cell: XmlAttributes): void {
    const times = repeats(cell.get('number-columns-repeated'), Number.MAX_SAFE_INTEGER)
    const text = shownDate(cell) ?? this.#text.trim()
    const copies = text === '' ? 0 : Math.min(times, COLUMNS_REPEATED_MAX)
    for (let count = 0; count < copies; count += 1) {
      this.writer.cell(this.#column + count, text, this.#href)
    }
    this.#column += times
    this.#cell = undefined
  }
}

/** A date, or a date and a time, whatever the cell makes of it. */
function shownDate(cell: XmlAttributes): string | undefined {
  return cell.get('value-type') === 'date' ? cell.get('date-value')?.replace('T', ' ') : undefined
}

function repeats(value: string | undefined, max: number): number {
  const times = Math.trunc(Number(value ?? 1))
  return times > 1 ? Math.min(times, max) : 1
}

const outside = (href: string | undefined) => (href === undefined || href.startsWith('#') ? undefined : href)
