import { describe, expect, it } from 'vitest'

import { linesOf } from '../../../../src/fetcher/convert/pdf/lines.ts'
import type { Piece } from '../../../../src/fetcher/convert/pdf/page-pieces.ts'

const piece = (text: string, x: number, more: Partial<Piece> = {}): Piece => ({
  text,
  x,
  width: text.length * 5,
  y: 100,
  size: 10,
  endsLine: false,
  isMono: false,
  tag: undefined,
  isArtifact: false,
  mark: undefined,
  ...more,
})

/** Pieces side by side, from left to right. */
function row(...texts: string[]): Piece[] {
  let x = 0
  return texts.map((text) => {
    const placed = piece(text, x)
    x += placed.width
    return placed
  })
}

const textsOf = (pieces: readonly Piece[]) => linesOf(pieces).map(({ text }) => text)

describe('pieces', () => {
  it('beside each other are a line, apart by a blank where there is room for one', () => {
    expect(textsOf([piece('one', 0), piece('word', 15), piece('two', 60)])).toEqual(['oneword two'])
  })

  it('at another height are another line, unless they are an index', () => {
    expect(textsOf([piece('x', 0), piece('2', 5, { y: 104, size: 6 }), piece('next', 0, { y: 88 })])).toEqual([
      'x2',
      'next',
    ])
  })

  it('after an end of a line are another line', () => {
    expect(textsOf([piece('one', 0, { endsLine: true }), piece('two', 100)])).toEqual(['one', 'two'])
  })
})

describe('a line that runs from right to left', () => {
  it.each([
    ['words', row('עולם', ' ', 'שלום'), 'שלום עולם'],
    ['a number at its end', row('.', '12', ' ', 'עמוד'), 'עמוד 12.'],
    ['a sign in one piece with a number', row('.12', ' ', 'עמוד'), 'עמוד 12.'],
    ['a number with signs inside', row('1,234.5', ' ', 'סכום'), 'סכום 1,234.5'],
    ['Latin words in their order', row('.two', ' ', 'words', ' ', 'לכולם', ' ', 'שלום'), 'שלום לכולם two words.'],
    ['a word in brackets', row('(', 'כן', ')', ' ', 'שלום'), 'שלום (כן)'],
    ['a Latin word in brackets', row('(ISO)', ' ', 'תקן'), 'תקן (ISO)'],
    ['words around a number', row('דולר', ' ', '50', ' ', 'שילם'), 'שילם 50 דולר'],
  ])('has %s', (_what, pieces, text) => {
    expect(textsOf(pieces)).toEqual([text])
    expect(textsOf(pieces.toReversed())).toEqual([text])
  })

  it('has marks after the letters that they stand on', () => {
    expect(textsOf([piece('ב', 0), piece('\u05B8', 2, { width: 0 }), piece('א', 5)])).toEqual(['אב\u05B8'])
  })
})
