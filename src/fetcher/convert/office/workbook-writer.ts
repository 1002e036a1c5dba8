import { TABLE_LENGTH_MAX, type TableStyle, TableWriter } from '../data/table-writer.ts'
import { oneLine } from '../one-line.ts'
import { escapeHtml } from '../xml/escape-html.ts'

/** Cells with a text that are kept of one workbook. */
const CELLS_MAX = 2_000_000

interface Cell {
  /** From 0. */
  readonly column: number
  readonly text: string
  readonly href: string | undefined
}

interface Sheet {
  readonly name: string
  readonly rows: (readonly Cell[])[]
}

/**
 * Collects the sheets of a workbook and writes them as tables under their names. Rows and columns without any text are
 * left out, so that a cell far away from the others costs no more than one of them.
 */
export class WorkbookWriter {
  readonly #sheets: Sheet[] = []
  #row: Cell[] = []
  #cellsLeft = CELLS_MAX
  #lengthLeft = TABLE_LENGTH_MAX
  #isCut = false

  /** Whether something was left out, because there was no room for it. */
  get isCut(): boolean {
    return this.#isCut
  }

  openSheet(name: string): void {
    this.#sheets.push({ name, rows: [] })
  }

  /** Adds a cell to the row. @param column from 0, in rising order. */
  cell(column: number, text: string, href?: string): void {
    if (text === '' || !this.#spend(1, text.length)) return
    this.#row.push({ column, text, href })
  }

  /** @param times how often the row stands in the sheet. */
  closeRow(times = 1): void {
    const row = this.#row
    const rows = this.#sheets.at(-1)?.rows
    this.#row = []
    if (!rows || row.length === 0) return
    rows.push(row)
    for (let more = 1; more < times && this.#spend(row.length, row.length); more += 1) rows.push(row)
  }

  /** The links of all cells, in their order. */
  links(): { readonly url: string; readonly text: string }[] {
    const cells = this.#sheets.flatMap(({ rows }) => rows.flat())
    return cells.flatMap(({ text, href }) => (href === undefined ? [] : [{ url: href, text }]))
  }

  /** Sheets without any text are left out. */
  write(style: TableStyle): string {
    let lengthLeft = TABLE_LENGTH_MAX
    const written = this.#sheets.map(({ name, rows }) => {
      const table = new TableWriter(style, lengthLeft)
      const columns = usedColumns(rows)
      for (const row of rows) if (!table.row(textsOf(row, columns, style))) this.#isCut = true
      lengthLeft = table.lengthLeft
      const content = table.finish()
      return content === '' ? '' : `${sheetHeading(name, style)}\n\n${content}`
    })
    return written.filter((sheet) => sheet !== '').join('\n\n')
  }

  #spend(cells: number, length: number): boolean {
    this.#isCut ||= cells > this.#cellsLeft || length > this.#lengthLeft
    if (this.#isCut) return false
    this.#cellsLeft -= cells
    this.#lengthLeft -= length
    return true
  }
}

/** The place in the table of each column that has a text. */
function usedColumns(rows: readonly (readonly Cell[])[]): ReadonlyMap<number, number> {
  const used = new Set<number>()
  for (const row of rows) for (const { column } of row) used.add(column)
  return new Map([...used].toSorted((a, b) => a - b).map((column, index) => [column, index]))
}

function textsOf(row: readonly Cell[], columns: ReadonlyMap<number, number>, style: TableStyle): string[] {
  const last = columns.get(row.at(-1)?.column ?? 0) ?? 0
  const texts = Array.from({ length: last + 1 }, () => '')
  for (const cell of row) texts[columns.get(cell.column) ?? last] = style === 'markdown' ? linked(cell) : cell.text
  return texts
}

function linked({ text, href }: Cell): string {
  if (href === undefined) return text
  return `[${text.trim().replaceAll(/[[\]]/g, String.raw`\$&`)}](${href.replaceAll(/[\s()]/g, encodeURIComponent)})`
}

function sheetHeading(name: string, style: TableStyle): string {
  const line = oneLine(name)
  if (style === 'html') return `<h2>${escapeHtml(line)}</h2>`
  return style === 'markdown' ? `## ${line}` : line
}
