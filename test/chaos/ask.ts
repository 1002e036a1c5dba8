import type { Exchange, Log } from './log.ts'

/** Milliseconds after which a request counts as never answered. */
const ANSWER_MS_MAX = 30_000

/** What a caller asks for. */
interface Question extends Pick<Exchange, 'method' | 'path'> {
  readonly headers?: Readonly<Record<string, string>>
  readonly sent?: string
}

/** What came of it; without a status if the answer is not whole. */
export interface Answer {
  readonly status: number | undefined
  readonly body: string
  readonly etag: string | undefined
}

/** When a caller goes away without the rest of an answer. */
interface Leaving {
  readonly signal?: AbortSignal
  /** Milliseconds after the request was sent. */
  readonly afterMs?: number
}

/** Sends a request of a caller to the service, and writes down what comes of it. */
export type Ask = (caller: string, question: Question, leaving?: Leaving) => Promise<Answer>

/** @param origin of the service. */
export function createAsk(origin: string, log: Log): Ask {
  return async (caller, question, { signal, afterMs } = {}) => {
    const { method, path, headers, sent } = question
    const late = AbortSignal.timeout(afterMs ?? ANSWER_MS_MAX)
    const sentAt = Date.now()
    let response: Response | undefined
    let body = ''
    let broken: string | undefined
    try {
      response = await fetch(origin + path, {
        method,
        headers: { 'x-caller-id': caller, ...headers },
        signal: AbortSignal.any([late, ...(signal ? [signal] : [])]),
        ...(sent !== undefined && { body: sent }),
      })
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) body += decoder.decode(chunk, { stream: true })
    } catch (error) {
      const hasLeft = signal?.aborted === true || (afterMs !== undefined && late.aborted)
      broken = hasLeft ? 'left' : reasonOf(error)
    }
    const status = response?.status
    log.write({
      kind: 'exchange',
      caller,
      ...question,
      sentAt,
      at: Date.now(),
      ...(status !== undefined && { status, answer: body }),
      ...(broken !== undefined && { broken }),
    })
    return { status: broken === undefined ? status : undefined, body, etag: response?.headers.get('etag') ?? undefined }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
