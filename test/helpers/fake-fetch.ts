import type { FetchTarget, Outcome, TargetRequest } from '../../src/jobs/fetch-target.ts'
import type { TargetMeta } from '../../src/jobs/schema.ts'

/** One call that the runner has made; the test decides how and when it ends. */
export interface FetchCall extends TargetRequest {
  readonly signal: AbortSignal
  succeed(content: string): void
  fail(error: string): void
  reject(error: unknown): void
}

/** A `FetchTarget` in the hands of the test. `next()` waits for a call, so that no test has to sleep. */
export function fakeFetch() {
  const calls: FetchCall[] = []
  const waiters: ((call: FetchCall) => void)[] = []
  let answerAll: ((call: FetchCall) => void) | undefined

  const fetchTarget: FetchTarget = (target, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
    const call: FetchCall = {
      ...target,
      signal,
      succeed: (content) => resolve(success(target.url, content)),
      fail: (error) => resolve({ failure: { error, message: 'It failed.', hint: 'A hint.' } }),
      reject,
    }
    const waiter = waiters.shift()
    if (answerAll) answerAll(call) // What it throws is thrown by the fetch, synchronously.
    else if (waiter) waiter(call)
    else calls.push(call)
    return promise
  }

  return {
    fetchTarget,
    /** The next call, as soon as it is made. */
    next: (): Promise<FetchCall> => {
      const call = calls.shift()
      return call ? Promise.resolve(call) : new Promise((resolve) => waiters.push(resolve))
    },
    /** Waits for a call and leaves it for `next()`. */
    async peek(): Promise<void> {
      calls.unshift(await this.next())
    },
    /** From now on `answer` takes every call. */
    answer(answer: (call: FetchCall) => void) {
      answerAll = answer
      for (const call of calls.splice(0)) answer(call)
    },
    /** Calls made and not taken with `next()`. */
    get waiting() {
      return calls.length
    },
  }
}

export function success(url: string, content: string): Outcome {
  const meta: TargetMeta = {
    final_url: url,
    http_status: 200,
    bytes: content.length,
    fetched_at: '2026-01-01T00:00:00.000Z',
    duration_ms: 1,
    attempts: 1,
  }
  return { result: { content, meta } }
}
