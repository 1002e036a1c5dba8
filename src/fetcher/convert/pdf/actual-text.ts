import { contentMarks } from './content-marks.ts'
import { dictionaryOf, type FileObjects, fileObjects, streamOf } from './file-objects.ts'
import type { Piece, Pieces } from './page-pieces.ts'

/** Streams of one page that are looked at. */
const STREAMS_MAX = 100

/** Puts the text in that the author gave for what a font does not tell. The file is searched once, and only if need be. */
export type FillIn = (pieces: Pieces, pageNumber: number | undefined) => Pieces

/**
 * Where letters join, fonts often do not say which letters a shape stands for; some programs, Chrome among them, write
 * the letters beside it as `ActualText`, which pdf.js does not give. They are taken from the page's own streams, on
 * pages with such gaps only, and only if the marks found there are the very ones that pdf.js saw.
 */
export function createFillIn(file: Buffer): FillIn {
  let objects: FileObjects | undefined
  return (read, pageNumber) => {
    if (!read.hasGaps || pageNumber === undefined) return read
    objects ??= fileObjects(file.toString('latin1'))
    const marks = contentMarks(contentOf(objects, pageNumber))
    const isSame = marks.length === read.marks.length && marks.every(({ tag }, index) => tag === read.marks[index])
    if (!isSame) return read
    return { ...read, pieces: replaced(read.pieces, (mark) => marks[mark]?.actualText) }
  }
}

/** One piece of a mark takes its text and the place of all, the others lose theirs. */
function replaced(pieces: Pieces['pieces'], textOf: (mark: number) => string | undefined): Pieces['pieces'] {
  const areas = new Map<number, Piece>()
  for (const piece of pieces) {
    const text = piece.mark === undefined ? undefined : textOf(piece.mark)
    if (piece.mark === undefined || text === undefined || piece.text.trim() === '') continue
    areas.set(piece.mark, spanned(areas.get(piece.mark) ?? { ...piece, text }, piece))
  }
  return pieces.map((piece) => {
    const area = piece.mark === undefined ? undefined : areas.get(piece.mark)
    if (piece.mark === undefined || area === undefined) return piece
    const isFirst = piece.text.trim() !== '' && area.text !== ''
    if (!isFirst) return { ...piece, text: '' }
    areas.set(piece.mark, { ...area, text: '' })
    return { ...area, endsLine: piece.endsLine }
  })
}

function spanned(area: Piece, piece: Piece): Piece {
  const x = Math.min(area.x, piece.x)
  return { ...area, x, width: Math.max(area.x + area.width, piece.x + piece.width) - x }
}

/** What the page draws, as far as its streams are packed in a common way. */
function contentOf(objects: FileObjects, pageNumber: number): string {
  const page = dictionaryOf(objects.get(pageNumber)?.text ?? '')
  const listed = /\/Contents\s*(\[[^\]]*\]|\d+\s+\d+\s+R)/.exec(page)?.[1] ?? ''
  const numbers = Array.from(listed.matchAll(/(\d+)\s+\d+\s+R/g), (reference) => Number(reference[1]))
  return numbers
    .slice(0, STREAMS_MAX)
    .map((number) => streamOf(objects.get(number)?.text ?? '') ?? '')
    .join('\n')
}
