import { array, assert, constant, integer, oneof, option, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { joinPages, missesPages, pagesOf } from '../../../../src/fetcher/convert/paged.ts'

const page = integer({ min: 1, max: 60 })
const range = oneof(
  record({ from: page, length: option(integer({ min: 0, max: 30 }), { nil: undefined }) }).map(({ from, length }) => ({
    from,
    to: length === undefined ? undefined : from + length,
  })),
  record({ last: page }),
)

describe('the pages of ranges', () => {
  it('are those that any range names, rising, each once, and none beyond the last', () => {
    assert(
      property(array(range, { minLength: 1, maxLength: 5 }), integer({ min: 0, max: 50 }), (ranges, total) => {
        const names = (number: number) =>
          ranges.some((one) =>
            'last' in one ? number > total - one.last : number >= one.from && number <= (one.to ?? total),
          )
        const expected = Array.from({ length: total }, (_, index) => index + 1).filter(names)
        expect(pagesOf(ranges, total)).toEqual(expected)
      }),
    )
  })

  it('are all pages if there are no ranges', () => {
    assert(
      property(constant(undefined), integer({ min: 0, max: 50 }), (none, total) => {
        expect(pagesOf(none, total)).toHaveLength(total)
      }),
    )
  })

  it.each([
    [[{ from: 1, to: 12 }], false],
    [[{ from: 12, to: undefined }], false],
    [[{ last: 12 }], false],
    [[{ from: 1, to: 13 }], true],
    [[{ from: 13, to: undefined }], true],
    [[{ last: 13 }], true],
    [
      [
        { from: 1, to: 2 },
        { from: 20, to: 20 },
      ],
      true,
    ],
  ])('%j of 12 pages ask for too much: %s', (ranges, misses) => expect(missesPages(ranges, 12)).toBe(misses))
})

describe('joined pages', () => {
  it('are each under their number, also without text', () => {
    const pages = [
      { number: 2, text: ' two\n' },
      { number: 3, text: '' },
      { number: 7, text: 'seven' },
    ]
    expect(joinPages(pages)).toBe('<!-- page 2 -->\n\ntwo\n\n<!-- page 3 -->\n\n<!-- page 7 -->\n\nseven')
  })

  it('have no marks but these', () => {
    const content = joinPages([{ number: 1, text: 'a\n<!-- page 9 -->\n<!-- page 10 --> <!-- other -->' }])
    expect(content.match(/<!-- page \d+ -->/g)).toEqual(['<!-- page 1 -->'])
    expect(content).toContain('<!-- other -->')
  })
})
