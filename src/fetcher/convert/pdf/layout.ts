import type { Block } from './blocks.ts'
import { codeLines } from './code-lines.ts'
import { isDivided, joinLines } from './join-lines.ts'
import type { Line } from './lines.ts'

/** What the letters of a document mean by their looks. Sizes are in points, rounded to halves. */
export interface Looks {
  readonly body: number
  /** Those of headings, largest first. */
  readonly headings: readonly number[]
  /** Whether a font with letters of one width means code: not if most of the text is in one. */
  readonly hasCode: boolean
}

/** Text that is larger than the body by this factor is a heading. */
const HEADING_FACTOR = 1.12
const HEADING_SIZES_MAX = 5
/** Characters of the longest heading. */
const HEADING_LENGTH_MAX = 250
/** Characters of the longest entry of a table of contents. */
const ENTRY_LENGTH_MAX = 500
/** Characters that the sizes of headings must have on a line, so that a large initial or number is none. */
const HEADING_LETTERS_MIN = 2
/** Points by which the lines of one paragraph may differ in size. */
const SIZE_SPREAD = 1.2
/** From one line to the next of a paragraph, as a factor of the size. */
const LINE_STEP_MAX = 1.75
/** The same for two lines of code, with an empty one between them. */
const CODE_STEP_MAX = 3
/** Points up to the top of the next column or page. */
const COLUMN_STEP_MIN = 50
/** Points within which, about, the lines of one column begin. */
const COLUMN_POINTS = 30
/** An item that stands further in than this many sizes is in another column. */
const INDENT_SIZES_MAX = 8

const BULLET = /^(?:[•◦▪▫‣⁃●○■□◆➢\uF0A7\uF0B7\uF0D8]\s*|[–-]\s+)(?=\S)/u
const NUMBER = /^\(?(\d{1,3})[.)]\s+/
const LETTER = /^\(?[a-z][.)]\s/
const SENTENCE_END = /[.!?:»”"。！？؟]$/
const SENTENCE_START = /^["“‘'(]?[\p{Lu}\p{Lo}\p{N}]/u
/** The dots that lead to a page number in a table of contents. */
const LEADER = /(?:\s*\.){4,}\s*(?=[\dA-Za-z-]{1,8}$)/

const rounded = (size: number): number => Math.round(size * 2) / 2

/** Learns the looks from some lines of a document. The body has the size of most letters. */
export function looksOf(lines: readonly Line[]): Looks {
  const letters = new Map<number, number>()
  for (const line of lines) letters.set(rounded(line.size), (letters.get(rounded(line.size)) ?? 0) + line.letters)
  const body = [...letters].reduce((most, size) => (size[1] > most[1] ? size : most), [0, 0])[0]
  const isLarge = ({ size, letters: count }: Line) =>
    count >= HEADING_LETTERS_MIN && rounded(size) >= body * HEADING_FACTOR
  const headings = [...new Set(lines.filter(isLarge).map((line) => rounded(line.size)))].toSorted((a, b) => b - a)
  const count = (ofLines: readonly Line[]) => ofLines.reduce((sum, line) => sum + line.letters, 0)
  const hasCode = count(lines.filter((line) => line.isMono)) * 2 < count(lines)
  return { body, headings: headings.slice(0, HEADING_SIZES_MAX), hasCode }
}

interface Paragraph {
  /** Its lines without the marker of an item. */
  readonly texts: string[]
  readonly kind: 'text' | 'code' | 'entry'
  readonly level: number
  readonly marker: string | undefined
  readonly lines: Line[]
}

/** Tells headings, list items, code and paragraphs of a page without tags apart, by size, position and marks. */
export function layoutBlocks(lines: readonly Line[], looks: Looks): Block[] {
  const paragraphs: Paragraph[] = []
  const columnEnd = columnEndsOf(lines, looks)
  for (const line of lines) {
    const open = paragraphs.at(-1)
    const found = begin(line, looks)
    if (open && found.marker === undefined && continues(open, found, columnEnd)) {
      open.texts.push(line.text)
      open.lines.push(line)
    } else paragraphs.push(found)
  }
  return toBlocks(paragraphs)
}

/** The paragraph that a line would begin. */
function begin(line: Line, looks: Looks): Paragraph {
  const { text } = line
  const plain = { level: 0, marker: undefined, lines: [line] }
  if (text.length <= ENTRY_LENGTH_MAX && LEADER.test(text))
    return { ...plain, kind: 'entry', texts: [text.replace(LEADER, ' … ')] }
  const level = levelOf(line, looks)
  if (level === 0 && line.isMono && looks.hasCode) return { ...plain, kind: 'code', texts: [text] }
  const marker = level === 0 ? markerOf(text) : undefined
  const content = marker === undefined ? text : text.replace(marker.pattern, '')
  return { kind: 'text', texts: [content], level, marker: marker?.text, lines: [line] }
}

function levelOf({ size, text }: Line, { body, headings }: Looks): number {
  if (rounded(size) < body * HEADING_FACTOR || text.length > HEADING_LENGTH_MAX || !/\p{L}/u.test(text)) return 0
  return headings.indexOf(rounded(size)) + 1
}

function markerOf(text: string): { pattern: RegExp; text: string } | undefined {
  if (BULLET.test(text)) return { pattern: BULLET, text: '-' }
  const number = NUMBER.exec(text)?.[1]
  return number === undefined ? undefined : { pattern: NUMBER, text: `${number}.` }
}

function continues(open: Paragraph, next: Paragraph, columnEnd: ColumnEnd): boolean {
  const [last, line] = [open.lines.at(-1), next.lines[0]]
  if (!last || !line || open.kind !== next.kind || open.level !== next.level) return false
  if (open.kind === 'entry' || Math.abs(last.size - line.size) >= SIZE_SPREAD) return false
  const step = last.y - line.y
  const size = Math.max(last.size, line.size)
  if (open.kind === 'code') return step > 0 && step < size * CODE_STEP_MAX
  if (open.level === 0 && LETTER.test(line.text)) return false
  if (step > 0 && step < size * LINE_STEP_MAX) return open.level > 0 || !isBreakMeant(open, line, columnEnd)
  const isUnfinished = !SENTENCE_END.test(last.text.slice(-1)) && /^[\p{Ll}\d(]/u.test(line.text)
  return step < -COLUMN_STEP_MIN && open.level === 0 && isUnfinished
}

/** A line that ends although the next word had room on it ends a paragraph, unless a sentence goes on. */
function isBreakMeant({ lines }: Paragraph, next: Line, columnEnd: ColumnEnd): boolean {
  const [first, last] = [lines[0], lines.at(-1)]
  if (!first || !last || last.isRtl || !SENTENCE_START.test(next.text) || isDivided(last.text)) return false
  const word = /^\S+/.exec(next.text)?.[0].length ?? 0
  const wordWidth = ((next.end - next.x) / next.text.length) * word
  return last.end + last.size + wordWidth < columnEnd(first)
}

/** How far to the right the column of a line goes. */
type ColumnEnd = (line: Line) => number

function columnEndsOf(lines: readonly Line[], { body }: Looks): ColumnEnd {
  const ends = new Map<number, number>()
  const placeOf = ({ x }: Line) => Math.round(x / COLUMN_POINTS)
  for (const line of lines) {
    if (rounded(line.size) !== body || line.isMono) continue
    ends.set(placeOf(line), Math.max(ends.get(placeOf(line)) ?? 0, line.end))
  }
  return (line) => [-1, 0, 1].reduce((end, step) => Math.max(end, ends.get(placeOf(line) + step) ?? 0), 0)
}

/** Gives each list item its depth, by its indent among the items around it. */
function toBlocks(paragraphs: readonly Paragraph[]): Block[] {
  let indents: number[] = []
  return paragraphs.map(({ texts, kind, level, marker, lines }): Block => {
    const text = joinLines(texts)
    const [first] = lines
    if (marker === undefined || !first) {
      indents = []
      if (kind === 'code') return { kind, lines: codeLines(lines) }
      return level > 0 ? { kind: 'heading', level, text } : { kind: 'paragraph', text }
    }
    const [from, to] = [first.x - first.size * INDENT_SIZES_MAX, first.x - first.size / 2]
    indents = indents.filter((indent) => indent > from && indent < to)
    indents.push(first.x)
    return { kind: 'item', depth: indents.length - 1, marker, text }
  })
}
