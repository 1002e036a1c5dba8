import { RE2JS } from 're2js'

import { PAGE_MARK } from '../convert/paged.ts'

/** Lines shown before and after each match with `context`. */
const CONTEXT_LINES = 2
/** UTF-16 code units of a line that are kept; a longer one is cut around its match. */
const LINE_LENGTH_MAX = 1_000
/** What GNU grep reads as the edges of a word, and RE2 as plain angle brackets. */
const WORD_EDGE = /(?<!\\)(?:\\\\)*\\[<>]/

export interface Matches {
  readonly content: string
  /** Lines that match. */
  readonly matches: number
  /** Whether a line was cut. */
  readonly cut: boolean
}

/**
 * Keeps the lines that match an RE2 expression; with `context` also two lines around each, apart by `--` where lines are
 * left out, and under the mark of the page they stand on. Lines end in LF or CRLF. Linear in the length of the content.
 */
export function grep(content: string, pattern: string, context: boolean): Matches {
  const expression = RE2JS.compile(pattern)
  const lines = content.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop() // The last line ended; there is none after it.
  const around = context ? CONTEXT_LINES : 0
  /** Where each matching line matches, by its index. */
  const hits = new Map<number, number>()
  for (const [index, line] of lines.entries()) {
    const matcher = expression.matcher(line)
    if (matcher.find()) hits.set(index, Math.floor((matcher.start() + matcher.end()) / 2))
  }
  const kept: string[] = []
  let cut = false
  /** The first line that is not kept yet. */
  let next = 0
  for (const hit of hits.keys()) {
    const from = Math.max(next, hit - around)
    if (context && from > next) {
      if (kept.length > 0) kept.push('--')
      const page = lines.slice(next, from).findLast((line) => PAGE_MARK.test(line))
      if (page !== undefined) kept.push(page)
    }
    const to = Math.min(lines.length, hit + around + 1)
    for (let index = from; index < to; index += 1) {
      const line = lines[index] ?? ''
      cut ||= line.length > LINE_LENGTH_MAX
      kept.push(cutAround(line, hits.get(index) ?? 0))
    }
    next = to
  }
  return { content: kept.join('\n'), matches: hits.size, cut }
}

/** Why a pattern cannot be used, in the words of the library; undefined if it can. */
export function patternFault(pattern: string): string | undefined {
  if (WORD_EDGE.test(pattern)) return 'RE2 has no `\\<` and `\\>`; use `\\b` for the edge of a word'
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (error) {
    if (error instanceof RangeError) throw error
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error)
  }
}

/** At most `LINE_LENGTH_MAX` code units of a line, those around `middle`, with marks where it is cut. */
function cutAround(line: string, middle: number): string {
  if (line.length <= LINE_LENGTH_MAX) return line
  let from = Math.max(0, Math.min(middle - LINE_LENGTH_MAX / 2, line.length - LINE_LENGTH_MAX))
  let to = from + LINE_LENGTH_MAX
  if (splitsPair(line, from)) from += 1
  if (splitsPair(line, to)) to -= 1
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}

/** Whether a surrogate pair stands across the position. */
const splitsPair = (text: string, at: number): boolean =>
  /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at))
