/** Characters at the start in which the delimiter is looked for, and rows that are looked at. */
const SAMPLE_LENGTH = 65_536
const SAMPLE_ROWS = 50
const DELIMITERS = [',', ';', '\t', '|']
/** A first line by which spreadsheet programs tell the delimiter. */
const TOLD = /^sep=([^\w\s"]|\t)\r?\n/i

/** Cells of a row that are kept; spreadsheets have no wider rows. */
const CELLS_MAX = 16_384

/** Gets the rows one by one; returns false to end. */
export type TakeRow = (cells: readonly string[]) => boolean

/**
 * Reads the rows of comma-separated values (RFC 4180), or of those with another delimiter, in linear time. Quoted cells
 * may hold delimiters, line breaks and doubled quotes; a quote inside of an unquoted cell is a character. Blank lines are
 * left out.
 */
export function readCsv(text: string, delimiter: string, takeRow: TakeRow): void {
  const plain = plainOf(delimiter)
  let cells: string[] = []
  let at = TOLD.exec(text)?.[0].length ?? 0
  while (at < text.length || cells.length > 0) {
    const cell = (text[at] === '"' ? quotedCell(text, at, plain) : undefined) ?? plainCell(text, at, plain)
    if (cells.length < CELLS_MAX) cells.push(cell.text)
    at = cell.end
    if (text[at] === delimiter) {
      at += 1
      continue
    }
    const isBlank = cells.length === 1 && cells[0] === ''
    if (!isBlank && !takeRow(cells)) return
    cells = []
    at += text[at] === '\r' && text[at + 1] === '\n' ? 2 : 1
  }
}

interface Cell {
  readonly text: string
  /** Where the delimiter or line break behind the cell stands. */
  readonly end: number
}

/** What an unquoted cell is made of. Sticky: it is to be set to where the cell begins. */
const plainOf = (delimiter: string) => new RegExp(`[^\\r\\n${delimiter === '\t' ? '\\t' : `\\${delimiter}`}]*`, 'y')

function plainCell(text: string, start: number, plain: RegExp): Cell {
  plain.lastIndex = start
  const cell = plain.exec(text)?.[0] ?? ''
  return { text: cell, end: start + cell.length }
}

/** Undefined if the quote is never closed; it is a character then. What follows the closing quote belongs to the cell. */
function quotedCell(text: string, start: number, plain: RegExp): Cell | undefined {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
  if (end < 0) return undefined
  const rest = plainCell(text, end + 1, plain)
  return { text: text.slice(start + 1, end).replaceAll('""', '"') + rest.text, end: rest.end }
}

/** The delimiter that a text tells, or that cuts the most of its first rows into the same number of cells. */
export function delimiterOf(text: string): string {
  const told = TOLD.exec(text)?.[1]
  if (told !== undefined) return told
  const sample = text.slice(0, SAMPLE_LENGTH)
  let best = { delimiter: ',', rows: 0, cells: 1 }
  for (const delimiter of DELIMITERS) {
    const found = { delimiter, ...usualWidth(sample, delimiter) }
    if (found.cells < 2) continue
    if (found.rows > best.rows || (found.rows === best.rows && found.cells > best.cells)) best = found
  }
  return best.delimiter
}

/** The number of cells that most rows have, and how many rows those are. */
function usualWidth(sample: string, delimiter: string): { rows: number; cells: number } {
  const counts = new Map<number, number>()
  let total = 0
  readCsv(sample, delimiter, ({ length }) => {
    counts.set(length, (counts.get(length) ?? 0) + 1)
    total += 1
    return total < SAMPLE_ROWS
  })
  let usual = { rows: 0, cells: 0 }
  for (const [cells, rows] of counts) if (rows > usual.rows) usual = { rows, cells }
  return usual
}
