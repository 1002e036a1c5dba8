/** Shares of a text that was found, from 0 to 1. */
export interface Score {
  readonly precision: number
  readonly recall: number
  readonly f1: number
}

const WORD = /[\p{L}\p{N}_]+/gu
const SHINGLE_WORDS = 4
const PERFECT: Score = { precision: 1, recall: 1, f1: 1 }
const NOTHING: Score = { precision: 0, recall: 0, f1: 0 }

const wordsOf = (text: string): string[] => text.match(WORD) ?? []

/** Compares bags of words without regard to case, as WCXB does. The score of a set is the mean over its pages. */
export function scoreWords(truth: string, found: string): Score {
  const expected = wordsOf(truth.toLowerCase())
  const got = wordsOf(found.toLowerCase())
  if (expected.length === 0) return got.length === 0 ? PERFECT : NOTHING
  if (got.length === 0) return NOTHING
  const common = commonOf(counted(expected), counted(got))
  return scoreOf(common / got.length, common / expected.length)
}

/** Compares runs of four words, as scrapinghub/article-extraction-benchmark does. */
export function scoreShingles(truth: string, found: string): Score {
  const expected = shinglesOf(truth)
  const got = shinglesOf(found)
  if (expected.length === 0 && got.length === 0) return PERFECT
  const common = commonOf(counted(expected), counted(got))
  return scoreOf(got.length === 0 ? 0 : common / got.length, expected.length === 0 ? 0 : common / expected.length)
}

/** The means of precision and recall over a set. Its F1 is the mean of F1, or for shingles that of the two means. */
export function meanScore(scores: readonly Score[], scoring: 'shingles' | 'words'): Score {
  const mean = (of: (score: Score) => number) => scores.reduce((sum, score) => sum + of(score), 0) / scores.length
  const precision = mean((score) => score.precision)
  const recall = mean((score) => score.recall)
  return scoring === 'shingles' ? scoreOf(precision, recall) : { precision, recall, f1: mean((score) => score.f1) }
}

function scoreOf(precision: number, recall: number): Score {
  const sum = precision + recall
  return { precision, recall, f1: sum === 0 ? 0 : (2 * precision * recall) / sum }
}

/** A text of fewer words is one run. */
function shinglesOf(text: string): string[] {
  const words = wordsOf(text)
  if (words.length === 0) return []
  const count = Math.max(1, words.length - SHINGLE_WORDS + 1)
  return Array.from({ length: count }, (_, start) => words.slice(start, start + SHINGLE_WORDS).join('\n'))
}

function counted(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

function commonOf(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let common = 0
  for (const [item, count] of a) common += Math.min(count, b.get(item) ?? 0)
  return common
}
