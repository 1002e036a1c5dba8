import { oneLine } from '../one-line.ts'
import { escapeHtml } from '../xml/escape-html.ts'

/** How the rows of a table are written: as Markdown, with tabs between the cells, or as HTML. */
export type TableStyle = 'markdown' | 'text' | 'html'

/** Characters that the tables of a document may have together; rows beyond are left out. */
export const TABLE_LENGTH_MAX = 20_000_000
/** Rows that are joined at a time: many small strings take several times the memory of one. */
const ROWS_JOINED = 1_000

/** Writes a table row by row. The first row is its head. Rows may differ in length. */
export class TableWriter {
  readonly #style: TableStyle
  readonly #blocks: string[] = []
  #rows: string[] = []
  #head: string | undefined
  #headWidth = 0
  #width = 0
  #lengthLeft: number
  #isFull = false

  /** @param lengthMax characters that the table may have. */
  constructor(style: TableStyle, lengthMax = TABLE_LENGTH_MAX) {
    this.#style = style
    this.#lengthLeft = lengthMax
  }

  /** Characters that there is still room for. */
  get lengthLeft(): number {
    return this.#lengthLeft
  }

  /** @returns false if there was no room for the row; nothing is written from then on. */
  row(cells: readonly string[]): boolean {
    const isHead = this.#head === undefined
    const row = this.#isFull ? '' : writeRow(this.#style, cells, isHead)
    this.#isFull ||= row.length >= this.#lengthLeft
    if (this.#isFull) return false
    this.#lengthLeft -= row.length + 1
    this.#width = Math.max(this.#width, cells.length)
    if (isHead) {
      this.#head = row
      this.#headWidth = cells.length
    } else if (this.#rows.push(row) === ROWS_JOINED) this.#join()
    return true
  }

  /** The table, without a line break at its end; empty if it has no rows. */
  finish(): string {
    if (this.#head === undefined) return ''
    this.#join()
    if (this.#style === 'text') return [this.#head, ...this.#blocks].join('\n')
    if (this.#style === 'html') return ['<table>', this.#head, ...this.#blocks, '</table>'].join('\n')
    // In Markdown a cell that has none above it in the head is not shown.
    const wideHead = `${this.#head}${'  |'.repeat(this.#width - this.#headWidth)}`
    return [wideHead, `|${' --- |'.repeat(this.#width)}`, ...this.#blocks].join('\n')
  }

  #join(): void {
    if (this.#rows.length > 0) this.#blocks.push(this.#rows.join('\n'))
    this.#rows = []
  }
}

function writeRow(style: TableStyle, cells: readonly string[], isHead: boolean): string {
  if (style === 'markdown') return `| ${cells.map(markdownCell).join(' | ')} |`
  if (style === 'text') return cells.map(line).join('\t')
  const name = isHead ? 'th' : 'td'
  return `<tr>${cells.map((cell) => `<${name}>${escapeHtml(cell).replaceAll('\n', '<br>')}</${name}>`).join('')}</tr>`
}

const line = (text: string) => (/\s/.test(text) ? oneLine(text) : text)

/** A pipe, with the backslashes before it or at the end, and what would begin a tag. */
const MARKS = /(\\*)(\||$)|\\+|<(?=[A-Za-z/!?])/g

/** The text of a cell on one line, so that Markdown shows what stands in the data. */
function markdownCell(text: string): string {
  const trimmed = text.trim()
  if (!/[\\|<\n\r\t]/.test(trimmed)) return trimmed
  const escaped = trimmed.replaceAll(MARKS, (mark, backslashes: string | undefined, pipe: string | undefined) => {
    if (mark === '<') return '\\<'
    if (pipe === undefined) return mark
    return `${backslashes}${backslashes}${pipe === '' ? '' : '\\|'}`
  })
  return escaped.replaceAll('\t', ' ').replaceAll(/\r\n?|\n/g, '<br>')
}
