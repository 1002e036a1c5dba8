import fc from 'fast-check'
import { expect, it } from 'vitest'

import { parsePageRanges } from '../../src/jobs/page-ranges.ts'

it.each([
  ['1', [{ from: 1, to: 1 }]],
  [
    '1-3,7',
    [
      { from: 1, to: 3 },
      { from: 7, to: 7 },
    ],
  ],
  ['5-', [{ from: 5, to: undefined }]],
  ['-2', [{ last: 2 }]],
  ['290-, 2 ,-1', [{ from: 290, to: undefined }, { from: 2, to: 2 }, { last: 1 }]],
])('reads %j', (text, ranges) => {
  expect(parsePageRanges(text)).toEqual(ranges)
})

it.each(['', ',', '0', '0-3', '9-7', '-0', '-', '1--3', '1-3-5', 'a', '1;2', '1,,2', '١', '1.5', '12345678', '1 - 3'])(
  'refuses %j',
  (text) => {
    expect(parsePageRanges(text)).toBeUndefined()
  },
)

it('property: reads back what it would write, and never throws', () => {
  const range = fc
    .tuple(fc.integer({ min: 1, max: 999 }), fc.nat(99))
    .map(([from, more]) => ({ from, to: from + more }))
  fc.assert(
    fc.property(fc.array(range, { minLength: 1 }), (ranges) => {
      expect(parsePageRanges(ranges.map(({ from, to }) => `${from}-${to}`).join())).toEqual(ranges)
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => void parsePageRanges(text)))
})
