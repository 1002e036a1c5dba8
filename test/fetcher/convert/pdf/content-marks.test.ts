import { describe, expect, it } from 'vitest'

import { contentMarks } from '../../../../src/fetcher/convert/pdf/content-marks.ts'

describe('marks in a stream', () => {
  it.each([
    ['/P <</MCID 0>> BDC (text) Tj EMC', [{ tag: 'P', actualText: undefined }]],
    ['/Artifact BMC EMC /Span /MC0 BDC EMC', ['Artifact', 'Span'].map((tag) => ({ tag, actualText: undefined }))],
    ['/Span<</ActualText<FEFF00660069>>> BDC <01> Tj EMC', [{ tag: 'Span', actualText: 'fi' }]],
    ['/Span<</ActualText (\\376\\377\\000f\\000i)/MCID 3>>BDC', [{ tag: 'Span', actualText: 'fi' }]],
    ['/Span<</ActualText(a \\(b\\) (c))>>BDC', [{ tag: 'Span', actualText: 'a (b) (c)' }]],
    ['/Span<</ActualText()>>BDC', [{ tag: 'Span', actualText: '' }]],
    ['(/P BDC (nested) \\) /P BDC) Tj % /P BDC\n/Q BMC', [{ tag: 'Q', actualText: undefined }]],
    ['(never closed /P BDC', []],
    ['', []],
  ])('%s', (content, marks) => expect(contentMarks(content)).toEqual(marks))

  it('are found in time by the length of the stream', () => {
    expect(contentMarks(`${'('.repeat(200_000)} /P BMC`)).toEqual([])
    expect(contentMarks('/P BMC '.repeat(100_000))).toHaveLength(100_000)
  })
})
