import { assert, date, property } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { pdfDate } from '../../../../src/fetcher/convert/pdf/pdf-date.ts'

describe('a date', () => {
  it.each([
    ['D:20240305083000Z', '2024-03-05T08:30:00Z'],
    ["D:20240305083000+01'00'", '2024-03-05T07:30:00Z'],
    ["D:20240305083000-05'30", '2024-03-05T14:00:00Z'],
    ['D:20240305083000+0100', '2024-03-05T07:30:00Z'],
    ["D:20240305083000Z00'00'", '2024-03-05T08:30:00Z'],
    ['D:202403', '2024-03-01T00:00:00Z'],
    ['D:2024', '2024-01-01T00:00:00Z'],
    ['20240305', '2024-03-05T00:00:00Z'],
    ["D:20231231233000-01'00'", '2024-01-01T00:30:00Z'],
  ])('%s is %s', (text, iso) => expect(pdfDate(text)).toBe(iso))

  it.each([
    '',
    'D:',
    'yesterday',
    'D:20241301',
    'D:20240230',
    'D:20240100',
    'D:2024010125',
    'D:00010101',
    '5 March',
    '2024-03-05',
    '2024 was good',
  ])('%j is none', (text) => expect(pdfDate(text)).toBeUndefined())

  it('of any second comes back as it was written', () => {
    const seconds = date({ min: new Date('1900-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    assert(
      property(seconds, (value) => {
        const iso = `${value.toISOString().slice(0, 19)}Z`
        expect(pdfDate(`D:${iso.replaceAll(/\D/g, '')}Z`)).toBe(iso)
      }),
    )
  })
})
