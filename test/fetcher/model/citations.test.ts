import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { checkCitations } from '../../../src/fetcher/model/citations.ts'

describe('citations', () => {
  it.each([
    ['alone', 'Ada [2].', 'Ada [1].', [2]],
    ['side by side', 'Ada [2][1].', 'Ada [1][2].', [2, 1]],
    ['with space between', 'Ada [2] [1].', 'Ada [1][2].', [2, 1]],
    ['in a list', 'Ada [1, 3].', 'Ada [1][2].', [1, 3]],
    ['as a range, of which the ends are sure', 'Ada [1-3].', 'Ada [1][2].', [1, 3]],
    ['twice', 'Ada [3][3], Bo [3].', 'Ada [1], Bo [1].', [3]],
    ['as a footnote', 'Ada [^2].', 'Ada [1].', [2]],
    ['with a word', 'Ada [Passage 2].', 'Ada [1].', [2]],
    ['in other brackets', 'Ada【3】.', 'Ada[1].', [3]],
    ['as a link, which goes', 'Ada [2](https://evil.example/?q=[1]).', 'Ada [1].', [2]],
    ['without space before', 'Ada[2].', 'Ada[1].', [2]],
    ['at the start', '[2] Ada.', '[1] Ada.', [2]],
  ])('are read %s', (_, answer, text, numbers) => {
    expect(checkCitations(answer, 3)).toEqual({ text, numbers })
  })

  it.each([
    ['too high', 'Ada [4].', 'Ada.'],
    ['zero', 'Ada [0].', 'Ada.'],
    ['a list of such', 'Ada [7, 8].', 'Ada.'],
    ['a year', 'Since [1999-2001] Ada.', 'Since Ada.'],
    ['at the end of a line', 'Ada [9]\nBo', 'Ada\nBo'],
    ['all there is', '[9]', ''],
  ])('go if they are %s', (_, answer, text) => {
    expect(checkCitations(answer, 3)).toEqual({ text, numbers: [] })
  })

  it.each(['`list[1]`', '```\nlist[1]\n```', '[a](https://x.example/1)', '[ ] to do', '[x]', 'f(1)', '[Ada 1]'])(
    'are not what only looks like them: %s',
    (text) => {
      expect(checkCitations(text, 3)).toEqual({ text, numbers: [] })
    },
  )

  it('are all of something that was sent, and without gaps', () => {
    const piece = fc.oneof(
      fc.constantFrom(' ', 'word', '[', ']', '[[', '`', '```', '(', ')', '\n', '【', ', ', '^', 'passage '),
      fc.nat(12).map((number) => `[${number}]`),
      fc.string({ maxLength: 4 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 1, max: 6 }), (pieces, count) => {
        const { text, numbers } = checkCitations(pieces.join(''), count)
        expect(new Set(numbers).size).toBe(numbers.length)
        for (const number of numbers) expect(number >= 1 && number <= count).toBe(true)
        const outside = text.replaceAll(/```[^]*?```|`[^`\n]+`/g, ' ')
        for (const [, number] of outside.matchAll(/\[(\d{1,6})\]/g)) {
          expect(Number(number) >= 1 && Number(number) <= numbers.length).toBe(true)
        }
      }),
    )
  })

  it('are none where brackets and code only open', () => {
    for (const hostile of [
      ' '.repeat(8_000),
      '['.repeat(8_000),
      '[1'.repeat(4_000),
      '```'.repeat(2_666),
      '`'.repeat(8_000),
    ]) {
      expect(checkCitations(`${hostile}.`, 3).numbers).toEqual([])
    }
  })
})
