import { onOpen, readPart } from './opc.ts'
import type { ZipArchive } from './zip.ts'

/** What a number format shows of a number, as far as the number itself does not tell. */
export type NumberFormat = 'date' | 'time' | 'date-time' | 'duration' | 'percent'

const STYLES_MAX = 100_000
const BUILT_IN = new Map<number, NumberFormat>([
  [9, 'percent'],
  [10, 'percent'],
  ...range(14, 17, 'date'),
  ...range(18, 21, 'time'),
  [22, 'date-time'],
  ...range(27, 36, 'date'),
  [45, 'time'],
  [46, 'duration'],
  [47, 'time'],
  ...range(50, 58, 'date'),
])

/** Reads what the cell styles of a workbook, by their place, do to numbers. */
export function readFormats(archive: ZipArchive, part: string): readonly (NumberFormat | undefined)[] {
  const custom = new Map<number, NumberFormat | undefined>()
  const styles: (NumberFormat | undefined)[] = []
  let inCellStyles = false
  const reader = onOpen((name, attributes) => {
    const id = Number(attributes.get('numFmtId'))
    if (name === 'cellXfs') inCellStyles = true
    else if (name === 'cellStyles' || name === 'dxfs') inCellStyles = false
    else if (name === 'numFmt' && custom.size < STYLES_MAX) custom.set(id, formatOf(attributes.get('formatCode') ?? ''))
    else if (name === 'xf' && inCellStyles && styles.length < STYLES_MAX) {
      styles.push(custom.has(id) ? custom.get(id) : BUILT_IN.get(id))
    }
  })
  readPart(archive, part, reader)
  return styles
}

function range(from: number, to: number, format: NumberFormat): [number, NumberFormat][] {
  return Array.from({ length: to - from + 1 }, (_, index) => [from + index, format])
}

/** Literal text, escapes, padding, colours and locales in a format code. */
const LITERALS = /"[^"]*"|[\\_*].|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi

/** Tells a format by the letters of its code. Only the section for positive numbers counts. */
export function formatOf(code: string): NumberFormat | undefined {
  const [section = ''] = code.slice(0, 1_000).replaceAll(LITERALS, '').toLowerCase().split(';')
  if (section.includes('general')) return undefined
  if (/\[[hms]/.test(section)) return 'duration'
  const hasTime = /[hs]/.test(section)
  const hasDate = /[yd]/.test(section) || (!hasTime && section.includes('m'))
  if (hasDate && hasTime) return 'date-time'
  if (hasDate) return 'date'
  if (hasTime) return 'time'
  return section.includes('%') ? 'percent' : undefined
}
