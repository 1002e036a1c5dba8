import type { NumberFormat } from './xlsx-formats.ts'

const DAY_S = 86_400
const DAY_MS = DAY_S * 1_000
/** Day 0 of the two systems of dates. The older one counts a 29 February 1900 that never was. */
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const EPOCH_1904 = Date.UTC(1904, 0, 1)
const LEAP_DAY_1900 = 60
/** The days to the end of the year 9999. */
const DAYS_MAX = 2_958_466
/** Digits that spreadsheets keep; more are the noise of binary fractions. */
const DIGITS = 15

/** The text of a number as its cell shows it: dates as ISO 8601, percentages with their sign. */
export function numberText(value: string, format: NumberFormat | undefined, isFrom1904: boolean): string {
  const number = Number(value)
  if (value.trim() === '' || !Number.isFinite(number)) return value
  if (format === undefined) return plainNumber(value, number)
  if (format === 'percent') return `${Number((number * 100).toPrecision(DIGITS))}%`
  if (number < 0 || number >= DAYS_MAX) return plainNumber(value, number)
  const seconds = Math.round(number * DAY_S)
  if (format === 'duration') return clock(seconds)
  if (format === 'time') return clock(seconds % DAY_S)
  const date = new Date(dayStart(Math.floor(seconds / DAY_S), isFrom1904)).toISOString().slice(0, 10)
  return format === 'date' ? date : `${date} ${clock(seconds % DAY_S)}`
}

/** Whole numbers keep all of their digits: they may be identifiers. */
const plainNumber = (value: string, number: number) =>
  value.length <= DIGITS || /^-?\d+$/.test(value) ? value : String(Number(number.toPrecision(DIGITS)))

function dayStart(day: number, isFrom1904: boolean): number {
  if (isFrom1904) return EPOCH_1904 + day * DAY_MS
  return EPOCH_1900 + (day < LEAP_DAY_1900 ? day + 1 : day) * DAY_MS
}

function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
