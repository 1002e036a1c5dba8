import type { Passage } from '../../jobs/schema.ts'
import { withTimeLimit } from '../../time-limit.ts'
import { checkCitations } from './citations.ts'
import { readCompletion } from './completion.ts'
import { ModelError } from './model-error.ts'
import { NOT_ANSWERED, writePrompt } from './prompt.ts'
import { type SendOptions, sendPatiently } from './send.ts'

/** Bytes of an answer of the endpoint: the bound of the network that `post` belongs to. */
export const MODEL_BYTES_MAX = 262_144
/** Characters of an answer that are kept, and tokens that the model may write. */
const ANSWER_LENGTH_MAX = 8_000
const TOKENS_MAX = 2_048

export interface ModelOptions extends SendOptions {
  /** Of an API that speaks OpenAI's protocol, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Name of the model, as the API knows it. */
  readonly model: string
  /** Sent as a bearer token; undefined where none is needed. */
  readonly apiKey?: string | undefined
  /** Milliseconds for an answer, with all tries. */
  readonly timeoutMs: number
}

interface ModelAnswer {
  /** Markdown. `[1]` in it is the first of `cited`, and so on. */
  readonly text: string
  /** Passages that it cites, as indexes from 0 into those given. Empty if they hold no answer, which `text` then says. */
  readonly cited: number[]
  /** Whether the end of the answer is missing. */
  readonly truncated: boolean
}

export interface Model {
  readonly name: string
  /**
   * Answers a question from passages, of which the first 12,000 characters are sent. An answer that cites none of them
   * is no answer: nothing shows that it is from the page.
   * @param signal when it aborts, the answer rejects with its reason.
   * @throws {ModelError}
   */
  answer(question: string, passages: readonly Passage[], signal: AbortSignal): Promise<ModelAnswer>
}

/** A model behind an OpenAI-compatible endpoint. Nothing but the question and the passages is sent to it. */
export function createModel(options: ModelOptions): Model {
  const { baseUrl, model, apiKey, timeoutMs, clock } = options
  const url = completionsUrl(baseUrl)
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  }

  return {
    name: model,
    async answer(question, passages, signal) {
      if (passages.length === 0) return notAnswered()
      const { messages, passageCount } = writePrompt(question, passages)
      const body = JSON.stringify({ model, messages, temperature: 0, max_tokens: TOKENS_MAX, stream: false })
      const send = (limited: AbortSignal) => sendPatiently(url, { headers, body }, options, limited)
      const response = await withTimeLimit(timeoutMs, clock, signal, send, slow)
      return toAnswer(response.body, passageCount)
    },
  }
}

const slow = () => new ModelError('The model did not answer in time.')

/** @throws {ModelError} */
function toAnswer(body: Uint8Array, passageCount: number): ModelAnswer {
  const completion = readCompletion(body)
  const kept = completion.text.slice(0, ANSWER_LENGTH_MAX).toWellFormed()
  const { text, numbers } = checkCitations(kept, passageCount)
  if (text.startsWith(NOT_ANSWERED) || (numbers.length === 0 && text.includes(NOT_ANSWERED))) return notAnswered()
  if (numbers.length === 0) throw new ModelError('The model cites no passage for its answer.')
  const cited = numbers.map((number) => number - 1)
  return { text, cited, truncated: completion.isCut || kept.length < completion.text.length }
}

const notAnswered = (): ModelAnswer => ({ text: NOT_ANSWERED, cited: [], truncated: false })

/** The parameters of the base stay, as some services want them. */
function completionsUrl(baseUrl: string): string {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`
  return url.href
}
