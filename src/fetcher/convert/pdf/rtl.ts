import type { Piece } from './page-pieces.ts'

/** Hebrew, Arabic and the scripts around them. */
const RTL = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/

/** Whether a text has letters that run from right to left. */
export const hasRtl = (text: string): boolean => RTL.test(text)

/**
 * Reads a line from its right end. What runs the other way inside of it, such as numbers and Latin words, keeps its own
 * order. pdf.js gives right-to-left letters in the order of reading, all else in the order of places.
 * @param gapShare the share of its size that is a space between pieces.
 */
export function joinRtl(parts: readonly Piece[], gapShare: number): string {
  const fromRight = parts.toSorted((a, b) => b.x + b.width - (a.x + a.width))
  let text = ''
  let run = ''
  let left: number | undefined
  for (const part of fromRight) {
    const isApart = left !== undefined && left - (part.x + part.width) > part.size * gapShare
    left = part.x
    if (hasRtl(part.text)) {
      text += turned(isApart ? ` ${run}` : run) + withBrackets(part.text)
      run = ''
    } else run = `${part.text}${isApart ? ' ' : ''}${run}`
  }
  return text + turned(run)
}

/** The signs around a left-to-right run belong to the other direction: they are drawn on its other side. */
function turned(run: string): string {
  const characters = Array.from(run)
  const start = characters.findIndex(isWord)
  const end = characters.findLastIndex(isWord) + 1
  if (start === -1) return reversed(characters)
  return reversed(characters.slice(end)) + characters.slice(start, end).join('') + reversed(characters.slice(0, start))
}

const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character)

const reversed = (characters: readonly string[]): string => withBrackets(characters.toReversed().join(''))

const BRACKETS = '()[]{}«»‹›'
const MIRROR = new Map(
  Array.from(BRACKETS, (bracket, index) => [bracket, BRACKETS[index % 2 === 0 ? index + 1 : index - 1]]),
)

/** What opens a bracket in the order of reading looks like one that closes it. */
const withBrackets = (text: string): string =>
  text.replaceAll(/[()[\]{}«»‹›]/g, (bracket) => MIRROR.get(bracket) ?? bracket)
