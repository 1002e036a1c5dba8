/** A text with its citations in order. */
export interface Cited {
  /** Its citations are [1], [2] and so on, numbered as they first occur. */
  readonly text: string
  /** What each number stands for: its number as it was sent, from 1. */
  readonly numbers: readonly number[]
}

/** Numbers in brackets, alone, in a list or as a range; with a word before them, or a link behind. */
const CITATION = /[[【](?:passages? )?\^?\d{1,6}(?:\s*[,;–-]\s*\^?\d{1,6})*[\]】](?:\([^()\s]*\))?/
/** Code, in which such numbers are something else; or citations that follow one another, with the space before them. */
const CODE_OR_CITATIONS = new RegExp(`(\`{3}[^]*?\`{3}|\`[^\`\\n]+\`)|(?:[ \\t]{0,3}${CITATION.source})+`, 'gi')

/**
 * Removes citations of what was not sent, and numbers the others anew without gaps.
 * @param count of what was sent; its numbers are 1 to `count`.
 */
export function checkCitations(answer: string, count: number): Cited {
  const numbers: number[] = []
  const text = answer.replace(CODE_OR_CITATIONS, (found, code: string | undefined) => {
    if (code !== undefined) return found
    const known = numbersIn(found).filter((number) => number >= 1 && number <= count)
    if (known.length === 0) return ''
    for (const number of known) if (!numbers.includes(number)) numbers.push(number)
    const space = /^[ \t]*/.exec(found)?.[0] ?? ''
    return space + [...new Set(known)].map((number) => `[${numbers.indexOf(number) + 1}]`).join('')
  })
  return { text: text.trim(), numbers }
}

/** A range stands for its ends: that is all that is sure of it. A link is left out. */
function numbersIn(citations: string): number[] {
  const brackets = citations.replaceAll(/\([^()\s]*\)/g, '').match(/[[【][^\]】]*/g) ?? []
  return brackets.flatMap((bracket) => (bracket.match(/\d+/g) ?? []).map(Number))
}
