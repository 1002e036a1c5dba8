import { all, ancestor, childElements, descendants, type DomElement, moveChildren, replace, unwrap } from '../nodes.ts'

/** Columns and rows that one cell may span. */
const COLUMNS_SPANNED_MAX = 50
const ROWS_SPANNED_MAX = 500
/** Cells that spans may add to one page. */
const CELLS_ADDED_MAX = 20_000

const TABLE = new Set(['table'])
const SECTIONS = new Set(['thead', 'tbody', 'tfoot'])
const CELL_BLOCKS = 'address,article,blockquote,dd,div,dl,dt,figcaption,figure,footer,header,li,main,ol,p,section,ul'

/** Makes tables fit Markdown: layout tables become blocks, spans empty cells, and each cell one line. */
export function flattenTables(root: DomElement): void {
  const budget = { cells: CELLS_ADDED_MAX }
  const tables = all(root, 'table')
  const outer = new Set(tables.map((table) => ancestor(table, TABLE)))
  for (const table of tables) {
    if (outer.has(table) || isLayout(table)) dissolve(table)
    else {
      spreadSpans(table, budget)
      widenHead(table, budget)
      for (const row of rowsOf(table)) for (const cell of row.children) flattenCell(cell)
    }
  }
  dissolveStrayParts(root)
}

/** Where each part of a table may stand. The writer fails on a part elsewhere, as a cut tree can have it. */
const PLACES: Readonly<Record<string, ReadonlySet<string>>> = {
  tr: new Set(['table', ...SECTIONS]),
  td: new Set(['tr']),
  th: new Set(['tr']),
  thead: TABLE,
  tbody: TABLE,
  tfoot: TABLE,
  caption: TABLE,
  colgroup: TABLE,
}

function dissolveStrayParts(root: DomElement): void {
  for (const part of all(root, Object.keys(PLACES).join(','))) {
    if (!PLACES[part.localName]?.has(part.parentElement?.localName ?? '')) toBlock(part)
  }
}

/** The rows of the table itself, not those of a table in it. */
const rowsOf = (table: DomElement): DomElement[] =>
  childElements(table).flatMap((part) => {
    if (part.localName === 'tr') return [part]
    return SECTIONS.has(part.localName) ? childElements(part).filter(({ localName }) => localName === 'tr') : []
  })

/** A table that only places things: it has one column, or says so. One that holds another table is one, too. */
function isLayout(table: DomElement): boolean {
  if (/^(?:presentation|none)$/.test(table.getAttribute('role') ?? '')) return true
  return rowsOf(table).every((row) => {
    const [first, second] = row.children
    return second === undefined && first?.localName !== 'th'
  })
}

/** The parts of the table itself become plain blocks. */
function dissolve(table: DomElement): void {
  for (const row of rowsOf(table)) {
    for (const cell of childElements(row)) toBlock(cell)
    toBlock(row)
  }
  for (const part of childElements(table)) toBlock(part)
  toBlock(table)
}

function toBlock(element: DomElement): void {
  const block = element.ownerDocument.createElement('div')
  moveChildren(element, block)
  replace(element, block)
}

/** Adds an empty cell for each place that a cell spans, so that columns stay in line. */
function spreadSpans(table: DomElement, budget: { cells: number }): void {
  const document = table.ownerDocument
  /** Rows that the cell above still covers, by column. */
  const covered: number[] = []
  for (const row of rowsOf(table)) {
    let column = 0
    const fill = (before: DomElement | null) => {
      while ((covered[column] ?? 0) > 0 && budget.cells > 0) {
        covered[column] = (covered[column] ?? 0) - 1
        budget.cells -= 1
        row.insertBefore(document.createElement('td'), before)
        column += 1
      }
    }
    for (const cell of childElements(row)) {
      fill(cell)
      const columns = span(cell, 'colspan', COLUMNS_SPANNED_MAX)
      const rows = span(cell, 'rowspan', ROWS_SPANNED_MAX)
      for (let extra = 1; extra < columns && budget.cells > 0; extra += 1) {
        budget.cells -= 1
        row.insertBefore(document.createElement(cell.localName), cell.nextSibling)
      }
      for (let each = 0; each < columns; each += 1) {
        if (rows > 1) covered[column] = rows - 1
        column += 1
      }
    }
    fill(null)
  }
}

/** A Markdown table is as wide as its first row, and readers drop the cells beyond. */
function widenHead(table: DomElement, budget: { cells: number }): void {
  const [head, ...rest] = rowsOf(table)
  if (!head) return
  const width = Math.max(...rest.map((row) => childElements(row).length), 0)
  for (let cell = childElements(head).length; cell < width && budget.cells > 0; cell += 1) {
    budget.cells -= 1
    head.appendChild(head.ownerDocument.createElement('th'))
  }
}

/** Reads a span and takes it off the cell. */
function span(cell: DomElement, name: string, max: number): number {
  const value = Math.trunc(Number(cell.getAttribute(name) ?? 1))
  cell.removeAttribute(name)
  return Number.isFinite(value) ? Math.min(max, Math.max(1, value)) : 1
}

/** Blocks in a cell become lines of it, list items with a bullet, headings bold. */
function flattenCell(cell: DomElement): void {
  const document = cell.ownerDocument
  if (descendants(cell).length === 0) return
  for (const heading of all(cell, 'h1,h2,h3,h4,h5,h6')) {
    const strong = document.createElement('strong')
    moveChildren(heading, strong)
    const line = document.createElement('div')
    line.appendChild(strong)
    replace(heading, line)
  }
  for (const block of all(cell, CELL_BLOCKS)) {
    if (block.localName === 'li') block.insertBefore(document.createTextNode('• '), block.firstChild)
    if (/\S/.test(block.textContent ?? '')) {
      if (hasText(block, 'previousSibling')) block.parentNode?.insertBefore(document.createElement('br'), block)
      if (hasText(block, 'nextSibling')) block.parentNode?.insertBefore(document.createElement('br'), block.nextSibling)
    }
    unwrap(block)
  }
  for (const image of all(cell, 'img')) {
    const alt = image.getAttribute('alt')
    if (alt?.includes('|')) image.setAttribute('alt', alt.replaceAll('|', '¦'))
  }
}

/** Whether a sibling on that side has text, and no line break stands between. */
function hasText(block: DomElement, side: 'previousSibling' | 'nextSibling'): boolean {
  for (let node = block[side]; node !== null; node = node[side]) {
    if (node.nodeName.toLowerCase() === 'br') return false
    if (/\S/.test(node.textContent ?? '')) return true
  }
  return false
}
