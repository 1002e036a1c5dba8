/** A hyphen, or a soft one, after a letter at the end of a line. */
const DIVIDED = /\p{L}[-\u00AD\u2010]$/u
const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303F\uFF00-\uFFEF]/u

/** Whether a line ends within a word. */
export const isDivided = (line: string): boolean => DIVIDED.test(line.slice(-4))

/** The text of lines that go on from one to the next: a word that was divided is whole again, CJK needs no blank. */
export function joinLines(lines: readonly string[]): string {
  const parts: string[] = []
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1]
    if (next === undefined) parts.push(line)
    else if (isDivided(line) && /^\p{Ll}/u.test(next)) parts.push(line.slice(0, -1))
    else parts.push(CJK.test(line.at(-1) ?? '') && CJK.test(next.at(0) ?? '') ? line : `${line} `)
  }
  return parts.join('')
}
