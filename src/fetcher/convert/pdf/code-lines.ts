import type { Line } from './lines.ts'

/** From one line to the next, as a factor of the size, where there is an empty line between them. */
const EMPTY_LINE_STEP = 1.75
/** Characters of the deepest indent. */
const INDENT_MAX = 80

/** The lines of code with their indents and the empty lines between them, by where they stand. */
export function codeLines(lines: readonly Line[]): string[] {
  const left = lines.reduce((least, { x }) => Math.min(least, x), Infinity)
  return lines.flatMap((line, index) => {
    const width = (line.end - line.x) / line.text.length
    const indent = width > 0 ? Math.min(INDENT_MAX, Math.round((line.x - left) / width)) : 0
    const before = lines[index - 1]
    const isApart = before !== undefined && before.y - line.y > line.size * EMPTY_LINE_STEP
    return [...(isApart ? [''] : []), ' '.repeat(indent) + line.text]
  })
}
