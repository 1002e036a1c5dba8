import type { Answer, Passage } from '../jobs/schema.ts'
import type { RankedPassage } from './filter/question/rank-passages.ts'

/** An answer as content, with its places in `meta`. */
export interface Answered {
  readonly content: string
  readonly answer: Answer
}

/** Answers with the passages themselves, best first, each under its number and place; with what is around them if they have it. */
export function quoteAnswer(ranked: readonly RankedPassage[]): Answered {
  const { content, passages } = quote('', ranked)
  return { content, answer: { method: 'bm25', passages } }
}

/**
 * Answers with the text of a model, which cites the passages by their place in the list, from `[1]`; those that have
 * what is around them are quoted below.
 */
export function modelAnswer(text: string, model: string, cited: readonly RankedPassage[]): Answered {
  const isShown = cited.some(({ around }) => around !== undefined)
  const { content, passages } = isShown
    ? quote(`${text}\n\n`, cited)
    : { content: text, passages: cited.map(toPassage) }
  return { content, answer: { method: 'model', model, passages } }
}

/** Passages that are shown together, since what is around them overlaps. */
interface Window {
  /** Where it starts and ends in the content of the page. */
  readonly start: number
  end: number
  text: string
  /** Positions in the ranking. */
  readonly ranks: number[]
}

function quote(before: string, ranked: readonly RankedPassage[]): { content: string; passages: Passage[] } {
  let content = before
  const passages = ranked.map(toPassage)
  for (const [position, { start, text, ranks }] of windowsOf(ranked).entries()) {
    if (position > 0) content += '\n\n'
    const [first = 0] = ranks
    content += `${ranks.map((rank) => `[${rank + 1}]`).join(' ')}${placeOf(ranked[first])}\n\n`
    for (const rank of ranks) {
      const passage = passages[rank]
      if (passage === undefined) continue
      const at = content.length + passage.offset - start
      passages[rank] = { ...passage, start: at, end: at + passage.quote.length }
    }
    content += text
  }
  return { content, passages }
}

/** In the order of their best passage. */
function windowsOf(ranked: readonly RankedPassage[]): Window[] {
  const windows: Window[] = []
  const byPlace = ranked
    .map(({ offset, quote: own, around = own, quoteAt = 0 }, rank) => ({ start: offset - quoteAt, text: around, rank }))
    .toSorted((a, b) => a.start - b.start)
  for (const { start, text, rank } of byPlace) {
    const last = windows.at(-1)
    if (last && start < last.end) {
      last.text += text.slice(last.end - start)
      last.end = Math.max(last.end, start + text.length)
      last.ranks.push(rank)
      last.ranks.sort((a, b) => a - b)
    } else windows.push({ start, end: start + text.length, text, ranks: [rank] })
  }
  return windows.toSorted((a, b) => (a.ranks[0] ?? 0) - (b.ranks[0] ?? 0))
}

function placeOf(passage: Passage | undefined): string {
  const parts = [
    ...(passage && passage.heading.length > 0 ? [passage.heading.join(' › ')] : []),
    ...(passage?.page === undefined ? [] : [`page ${passage.page}`]),
  ]
  return parts.length === 0 ? '' : ` ${parts.join(', ')}`
}

const toPassage = ({ around: _around, quoteAt: _quoteAt, ...passage }: RankedPassage): Passage => passage
