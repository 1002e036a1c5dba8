import { expect, it } from 'vitest'

import { retryAfterMs } from '../../../src/fetcher/network/retry-after.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

it.each([
  ['120', 120_000],
  [' 0 ', 0],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['Thu Jan  1 00:00:30 2026', 30_000],
  ['Thursday, 01-Jan-26 00:00:30 GMT', 30_000],
  ['2026-01-01T00:00:30', undefined],
  ['soon', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['2026', 2_026_000],
  ['9999999999', 9_999_999_999_000],
  ['tomorrow GMT', undefined],
  ['', undefined],
  [undefined, undefined],
])('reads %j', (header, expected) => {
  expect(retryAfterMs(header, NOW)).toBe(expected)
})
