import { NOTE_PREFIX } from '../data/html-pieces.ts'
import { escapeHtml } from '../xml/escape-html.ts'

/** How a piece of text looks. */
export interface TextFormat {
  readonly bold?: boolean
  readonly italic?: boolean
  readonly strike?: boolean
  readonly raised?: 'sup' | 'sub' | undefined
  /** Where a link around the text leads. */
  readonly href?: string | undefined
}

/** What a paragraph is. Without members it is plain. */
export interface ParagraphKind {
  /** Level of a heading, from 1; deeper ones than 6 are written as 6. */
  readonly heading?: number | undefined
  /** The place of an item in a list. */
  readonly list?: ListPlace | undefined
  readonly code?: boolean | undefined
  readonly quote?: boolean | undefined
}

export interface ListPlace {
  /** Depth, from 0. */
  readonly level: number
  readonly ordered: boolean
  /** Number of the item, where a list begins with it. */
  readonly number?: number | undefined
  /** Set for a further paragraph of the item before. */
  readonly continues?: boolean | undefined
}

/** Characters of HTML after which a new piece begins, at the next place where the document can be cut. */
const PIECE_LENGTH = 200_000
const LEVELS_MAX = 9

interface Run {
  text: string
  readonly format: TextFormat
}

interface Paragraph {
  readonly kind: ParagraphKind
  readonly runs: Run[]
}

interface OpenList {
  readonly level: number
  readonly ordered: boolean
}

/** A cell, a note or the document itself: what holds paragraphs and lists of its own. */
interface Flow {
  readonly lists: OpenList[]
  readonly paragraphs: Paragraph[]
  /** Whether a block of code is open. */
  inCode: boolean
  html: string
}

/**
 * Writes what office documents are made of as simple HTML. Paragraphs may stand in paragraphs, as text boxes do; they
 * are written before the one they stand in. The HTML comes in pieces that end between blocks, so that documents of any
 * length go through the writer of Markdown at the same speed.
 */
export class DocumentWriter {
  readonly #pieces: string[] = []
  readonly #root = newFlow()
  /** The flows of the cells that are open. */
  readonly #cells: Flow[] = []
  #tables = 0
  #notes = 0
  #title: string | undefined

  /** The text of the first heading or title. */
  get firstHeading(): string | undefined {
    return this.#title
  }

  openParagraph(kind: ParagraphKind = {}): void {
    this.#flow.paragraphs.push({ kind, runs: [] })
  }

  closeParagraph(): void {
    const flow = this.#flow
    const paragraph = flow.paragraphs.pop()
    if (paragraph) this.#writeParagraph(flow, paragraph)
  }

  /** Adds text to the open paragraph. Text that stands in none begins one. */
  text(text: string, format: TextFormat = {}): void {
    if (text === '') return
    const flow = this.#flow
    if (flow.paragraphs.length === 0) flow.paragraphs.push({ kind: {}, runs: [] })
    const runs = flow.paragraphs.at(-1)?.runs
    const last = runs?.at(-1)
    if (last && isSame(last.format, format)) last.text += text
    else runs?.push({ text, format })
  }

  lineBreak(format: TextFormat = {}): void {
    this.text('\n', format)
  }

  /** A reference to a note, which `openNote` with the same number writes. */
  noteMark(number: number): void {
    this.text(String(number), { raised: 'sup', href: `${NOTE_PREFIX}${number}` })
  }

  openNote(number: number): void {
    this.#endBlocks()
    this.#notes += 1
    this.#flow.html += `<div id="${NOTE_PREFIX.slice(1)}${number}">`
  }

  closeNote(): void {
    this.#endBlocks()
    this.#flow.html += '</div>'
    this.#notes -= 1
    this.#cut()
  }

  openTable(): void {
    this.#endBlocks()
    this.#flow.html += '<table>'
    this.#tables += 1
  }

  closeTable(): void {
    this.#tables = Math.max(0, this.#tables - 1)
    this.#flow.html += '</table>'
    this.#cut()
  }

  openRow(): void {
    this.#flow.html += '<tr>'
  }

  closeRow(): void {
    this.#flow.html += '</tr>'
  }

  /** @param columns how many columns the cell spans; @param rows how many rows. */
  openCell(columns = 1, rows = 1): void {
    const spans = `${columns > 1 ? ` colspan="${columns}"` : ''}${rows > 1 ? ` rowspan="${rows}"` : ''}`
    this.#flow.html += `<td${spans}>`
    this.#cells.push(newFlow())
  }

  closeCell(): void {
    this.#endBlocks()
    const cell = this.#cells.pop()
    this.#flow.html += `${cell?.html ?? ''}</td>`
  }

  /** Ends the document, whatever is open. */
  pieces(): readonly string[] {
    while (this.#cells.length > 0) this.closeCell()
    this.#endBlocks()
    if (this.#flow.html !== '') this.#pieces.push(this.#flow.html)
    this.#flow.html = ''
    return this.#pieces
  }

  get #flow(): Flow {
    return this.#cells.at(-1) ?? this.#root
  }

  #endBlocks(): void {
    const flow = this.#flow
    while (flow.paragraphs.length > 0) this.closeParagraph()
    closeCode(flow)
    closeLists(flow, 0)
  }

  #writeParagraph(flow: Flow, { kind, runs }: Paragraph): void {
    if (kind.code) return writeCode(flow, runs.map(({ text }) => text).join(''))
    if (!runs.some(({ text }) => /\S/.test(text))) return
    closeCode(flow)
    if (kind.list) return writeItem(flow, kind.list, inline(runs))
    closeLists(flow, 0)
    if (kind.heading !== undefined) {
      this.#title ??= runs
        .map(({ text }) => text)
        .join('')
        .trim()
      const name = `h${Math.min(6, Math.max(1, kind.heading))}`
      flow.html += `<${name}>${inline(runs.map(unbold))}</${name}>`
    } else if (kind.quote) flow.html += `<blockquote><p>${inline(runs)}</p></blockquote>`
    else flow.html += `<p>${inline(runs)}</p>`
    this.#cut()
  }

  /** Ends a piece where nothing is open. */
  #cut(): void {
    const flow = this.#flow
    if (this.#cells.length > 0 || this.#tables > 0 || this.#notes > 0 || flow.inCode || flow.lists.length > 0) return
    if (flow.html.length < PIECE_LENGTH) return
    this.#pieces.push(flow.html)
    flow.html = ''
  }
}

const newFlow = (): Flow => ({ lists: [], paragraphs: [], inCode: false, html: '' })

const isSame = (a: TextFormat, b: TextFormat) =>
  a.bold === b.bold && a.italic === b.italic && a.strike === b.strike && a.raised === b.raised && a.href === b.href

/** Headings are bold as they are. */
const unbold = ({ text, format }: Run): Run => ({
  text,
  format: { ...format, bold: false, italic: false },
})

function writeItem(flow: Flow, { level, ordered, number, continues }: ListPlace, content: string): void {
  const depth = Math.min(level, LEVELS_MAX)
  closeLists(flow, depth + 1)
  const last = flow.lists.at(-1)
  if (continues && last?.level === depth) {
    flow.html += `<p>${content}</p>`
    return
  }
  if (last && last.level === depth && last.ordered !== ordered) closeLists(flow, depth)
  if (flow.lists.at(-1)?.level === depth) flow.html += '</li>'
  else {
    const start = ordered && number !== undefined && number > 1 ? ` start="${number}"` : ''
    flow.html += ordered ? `<ol${start}>` : '<ul>'
    flow.lists.push({ level: depth, ordered })
  }
  flow.html += `<li>${content}`
}

/** Closes the lists that are at least this deep. */
function closeLists(flow: Flow, level: number): void {
  for (let last = flow.lists.at(-1); last && last.level >= level; last = flow.lists.at(-1)) {
    flow.html += `</li></${last.ordered ? 'ol' : 'ul'}>`
    flow.lists.pop()
  }
}

/** Lines of code in paragraphs one after the other are one block. */
function writeCode(flow: Flow, line: string): void {
  closeLists(flow, 0)
  flow.html += `${flow.inCode ? '\n' : '<pre><code>'}${escapeHtml(line)}`
  flow.inCode = true
}

function closeCode(flow: Flow): void {
  if (flow.inCode) flow.html += '</code></pre>'
  flow.inCode = false
}

function inline(runs: readonly Run[]): string {
  let html = ''
  let link: string | undefined
  for (const { text, format } of runs) {
    if (format.href !== link) {
      html += `${link === undefined ? '' : '</a>'}${format.href === undefined ? '' : `<a href="${escapeHtml(format.href)}">`}`
      link = format.href
    }
    html += formatted(text, format)
  }
  return link === undefined ? html : `${html}</a>`
}

/** Blanks at the ends stay outside of the tags, where Markdown wants them. */
function formatted(text: string, { bold, italic, strike, raised }: TextFormat): string {
  const middle = text.trim()
  const start = text.length - text.trimStart().length
  let html = escapeHtml(middle)
  if (middle !== '') {
    if (raised) html = `<${raised}>${html}</${raised}>`
    if (strike) html = `<s>${html}</s>`
    if (italic) html = `<em>${html}</em>`
    if (bold) html = `<strong>${html}</strong>`
  }
  return `${text.slice(0, start)}${html}${text.slice(start + middle.length)}`.replaceAll('\n', '<br>')
}
