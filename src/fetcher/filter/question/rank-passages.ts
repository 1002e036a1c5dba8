import type { Passage } from '../../../jobs/schema.ts'
import { type ContentPassage, passagesOf } from './passages.ts'
import { areForms, wordsOf } from './words.ts'

/** Passages that an answer consists of, at most. */
const PASSAGES_MAX = 5
/** Code units shown before and after a passage with `context`. */
const AROUND_LENGTH_MAX = 1_500
/** A passage that scores less than this share of the best is left out. */
const SCORE_SHARE_MIN = 0.35
/** The parameters of BM25 as its literature recommends them: saturation of counts, and weight of length. */
const K1 = 1.2
const B = 0.75

/** A passage, and what stands around it in the content if it was asked for. */
export interface RankedPassage extends Passage {
  /** The text from the passage before to the one after, the quote included. */
  readonly around?: string
  /** Where the quote starts in `around`. */
  readonly quoteAt?: number
}

export interface RankOptions {
  /** Whether `around` is wanted. */
  readonly context: boolean
  /** Whether lines that begin with `#` are headings. */
  readonly isMarkdown: boolean
}

/** The passages that share the most telling words with the question, by Okapi BM25; best first, none if none shares any. */
export function rankPassages(content: string, question: string, { context, isMarkdown }: RankOptions): RankedPassage[] {
  const passages = passagesOf(content, isMarkdown)
  const scores = scoresOf(
    passages.map(({ start, end, heading }) => `${heading.join(' ')} ${content.slice(start, end)}`),
    question,
  )
  const ranked = scores
    .map((score, index) => ({ score, index }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, PASSAGES_MAX)
  const least = (ranked[0]?.score ?? 0) * SCORE_SHARE_MIN
  return ranked.flatMap(({ score, index }) => {
    const passage = passages[index]
    if (passage === undefined || score < least) return []
    return [{ ...toPassage(content, passage, score), ...(context ? surroundings(content, passages, index) : {}) }]
  })
}

function toPassage(content: string, { start, end, heading, page }: ContentPassage, score: number): Passage {
  return {
    quote: content.slice(start, end),
    heading: [...heading],
    ...(page === undefined ? {} : { page }),
    score: Number(score.toFixed(4)),
    offset: start,
  }
}

/** The text from the passage before to the one after, headings between them included. */
function surroundings(content: string, passages: readonly ContentPassage[], index: number) {
  const own = passages[index]
  const start = own?.start ?? 0
  const end = own?.end ?? content.length
  const from = Math.max(start - AROUND_LENGTH_MAX, passages[index - 1]?.start ?? start)
  const to = Math.min(end + AROUND_LENGTH_MAX, passages[index + 1]?.end ?? end)
  return { around: content.slice(from, to), quoteAt: start - from }
}

function scoresOf(texts: readonly string[], question: string): number[] {
  const wanted = new Set(wordsOf(question))
  const match = matcher(wanted)
  const documents = texts.map((text) => {
    const words = wordsOf(text)
    const counts = new Map<string, number>()
    for (const word of words.map(match)) if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1)
    return { counts, length: words.length }
  })
  const meanLength = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length)
  const weights = new Map<string, number>()
  for (const word of wanted) {
    const having = documents.filter(({ counts }) => counts.has(word)).length
    weights.set(word, Math.log(1 + (documents.length - having + 0.5) / (having + 0.5)))
  }
  return documents.map(({ counts, length }) => {
    let score = 0
    for (const [word, count] of counts) {
      const saturation = count + K1 * (1 - B + (B * length) / Math.max(1, meanLength))
      score += ((weights.get(word) ?? 0) * count * (K1 + 1)) / saturation
    }
    return score
  })
}

/** Gives the wanted word that a word is, or else is a form of. Looks at each different word once. */
function matcher(wanted: ReadonlySet<string>): (word: string) => string | undefined {
  const known = new Map<string, string | undefined>([...wanted].map((word) => [word, word]))
  return (word) => {
    if (!known.has(word)) {
      known.set(
        word,
        [...wanted].find((candidate) => areForms(candidate, word)),
      )
    }
    return known.get(word)
  }
}
