import type { Converted, Failed } from '../convert/document.ts'
import { grep } from './grep.ts'
import { runJq } from './jq.ts'
import { type RankedPassage, rankPassages } from './question/rank-passages.ts'

export interface FilterOptions {
  readonly jq?: string | undefined
  readonly grep?: string | undefined
  readonly question?: string | undefined
  readonly context?: boolean | undefined
}

/** What is left of the content, or why nothing is. Plain data, since it crosses a process boundary. */
export type Filtered = Failed | Kept

export interface Kept {
  readonly content: string
  /** Lines that `grep` matched. */
  readonly matches?: number
  /** What answers the question best, best first; there if and only if one was asked. */
  readonly passages?: readonly RankedPassage[]
  readonly warnings: readonly string[]
}

/** Applies `jq`, then `grep`, then `question`; each does nothing while its option is not set. */
export async function filter(
  { content, isMarkdown }: Pick<Converted, 'content' | 'isMarkdown'>,
  { jq, grep: pattern, question, context = false }: FilterOptions,
): Promise<Filtered> {
  let kept: Kept = { content, warnings: [] }
  if (jq !== undefined) {
    const outputs = await runJq(content, jq)
    if ('failure' in outputs) return outputs
    kept = { ...kept, content: outputs.content }
  }
  if (pattern !== undefined) {
    const { cut, ...found } = grep(kept.content, pattern, context)
    kept = { ...found, warnings: cut ? ['Long lines are cut around their match.'] : [] }
  }
  if (question === undefined) return kept
  const passages = rankPassages(kept.content, question, { context, isMarkdown: isMarkdown === true })
  return { ...kept, passages }
}
