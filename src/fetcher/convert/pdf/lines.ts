import type { Piece } from './page-pieces.ts'
import { hasRtl, joinRtl } from './rtl.ts'

/** A line of text as it is read. Lengths are in points. */
export interface Line {
  readonly text: string
  readonly x: number
  readonly end: number
  readonly y: number
  /** The size that most of its letters have. */
  readonly size: number
  /** Characters that are not white space. */
  readonly letters: number
  readonly isMono: boolean
  readonly isRtl: boolean
}

/** The share of its size by which text may stand higher or lower and still be on the line, as an index does. */
const BASELINE_SHARE = 0.6
/** The share of its size that is a space between words. */
const SPACE_SHARE = 0.2
/** The share of its size by which text is moved that is drawn twice. */
const SAME_PLACE_SHARE = 0.1
/** Beside the signs of CJK text, which have room around them, there are no blanks. */
const CJK_GAP =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]) +(?=[\u3001-\u303F])|(?<=[\u3001-\u303F]) +(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}])/gu

/** Puts pieces together to lines, in the order in which they come. */
export function linesOf(pieces: readonly Piece[]): Line[] {
  const lines: Line[] = []
  let parts: Piece[] = []
  const flush = () => {
    const line = toLine(parts)
    if (line) lines.push(line)
    parts = []
  }
  let base: Piece | undefined
  let before: Piece | undefined
  for (const piece of pieces) {
    const isBlank = piece.text.trim() === ''
    const isRepeated = before !== undefined && isSame(before, piece)
    if (!isBlank) before = piece
    if (!isBlank && base && Math.abs(piece.y - base.y) > Math.max(piece.size, base.size) * BASELINE_SHARE) {
      flush()
      base = undefined
    }
    if (piece.text !== '' && !isRepeated) parts.push(piece)
    if (!isBlank) base ??= piece
    if (piece.endsLine) {
      flush()
      base = undefined
    }
  }
  flush()
  return lines
}

/** Text that is drawn again where it stands, to look bold, is read once. */
const isSame = (a: Piece, b: Piece): boolean =>
  a.text === b.text && Math.hypot(a.x - b.x, a.y - b.y) < a.size * SAME_PLACE_SHARE

function toLine(parts: readonly Piece[]): Line | undefined {
  const written = parts.filter(({ text }) => text.trim() !== '')
  const [first] = written
  if (!first) return undefined
  const isRtl = runsFromRight(written)
  return {
    text: (isRtl ? joinRtl(parts, SPACE_SHARE) : joinLtr(parts)).normalize('NFC').replaceAll(CJK_GAP, '').trim(),
    x: written.reduce((least, { x }) => Math.min(least, x), Infinity),
    end: written.reduce((most, { x, width }) => Math.max(most, x + width), -Infinity),
    y: first.y,
    size: mainSize(written),
    letters: lettersOf(written),
    isMono: written.every((part) => part.isMono),
    isRtl,
  }
}

/** By most of its letters: digits and signs run either way. */
function runsFromRight(parts: readonly Piece[]): boolean {
  const letters = (ofParts: readonly Piece[]) =>
    ofParts.reduce((sum, { text }) => sum + text.replaceAll(/\P{L}/gu, '').length, 0)
  const rtl = parts.filter(({ text }) => hasRtl(text))
  return rtl.length > 0 && letters(rtl) * 2 >= letters(parts)
}

const lettersOf = (parts: readonly Piece[]): number =>
  parts.reduce((sum, { text }) => sum + text.replaceAll(/\s/g, '').length, 0)

function mainSize(parts: readonly Piece[]): number {
  const letters = new Map<number, number>()
  for (const part of parts) letters.set(part.size, (letters.get(part.size) ?? 0) + lettersOf([part]))
  return [...letters].reduce((most, size) => (size[1] > most[1] ? size : most), [0, 0])[0]
}

function joinLtr(parts: readonly Piece[]): string {
  let text = ''
  let before: Piece | undefined
  for (const part of parts) {
    const isApart = before !== undefined && part.x - before.x - before.width > part.size * SPACE_SHARE
    const hasBlank = /\s$/.test(before?.text.slice(-1) ?? '') || /^\s/.test(part.text)
    text += isApart && !hasBlank ? ` ${part.text}` : part.text
    before = part
  }
  return text
}
