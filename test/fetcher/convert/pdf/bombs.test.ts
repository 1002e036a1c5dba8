import { describe, expect, it } from 'vitest'

import { dropBombs } from '../../../../src/fetcher/convert/pdf/bombs.ts'
import { packedStream, pdfPages, pdfStream, textAt } from '../../../helpers/pdf-files.ts'

const MEGABYTE = 1024 * 1024
const blanks = (megabytes: number) => packedStream(Buffer.alloc(megabytes * MEGABYTE, ' '))

describe('a stream', () => {
  it('that unpacks to more than 64 MB is spoilt, and only it', () => {
    const file = pdfPages({ pages: [{ content: packedStream(textAt('good')) }, { content: blanks(65) }] })
    const good = file.subarray(0, file.indexOf('/FlateDecode', file.indexOf('/FlateDecode') + 1))
    const before = Buffer.from(good)
    expect(dropBombs(file)).toBe(1)
    expect(good.equals(before)).toBe(true)
  })

  it('that unpacks to 63 MB is let alone', () => {
    const file = pdfPages({ pages: [{ content: blanks(63) }] })
    const before = Buffer.from(file)
    expect(dropBombs(file)).toBe(0)
    expect(file.equals(before)).toBe(true)
  })

  it('that is a picture is let alone, whatever it unpacks to', () => {
    const packed = blanks(65)
    const data = packed.subarray(packed.indexOf('stream\n') + 7, packed.lastIndexOf('\nendstream'))
    const picture = pdfStream(data, '/Type/XObject/Subtype/Image/Filter/FlateDecode')
    expect(dropBombs(pdfPages({ pages: ['a'], objects: [picture] }))).toBe(0)
  })

  it('that cannot be unpacked is let alone', () => {
    const file = pdfPages({ pages: [{ content: pdfStream(Buffer.alloc(100_000, 7), '/Filter/FlateDecode') }] })
    expect(dropBombs(file)).toBe(0)
  })
})
