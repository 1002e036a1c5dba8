import type { Clock } from '../clock.ts'
import { isRetried, TargetError } from '../jobs/target-error.ts'
import type { HostTurns } from './network/host-turns.ts'
import type { Admit, Network } from './network/network.ts'
import type { FetchedResponse } from './network/response.ts'
import { retryAfterMs } from './network/retry-after.ts'
import { retryPauseMs, TRIES_MAX } from './retry-pause.ts'

/** Milliseconds that a server may ask to wait. One that asks for more is not asked again for this target. */
const RETRY_AFTER_MS_MAX = 60_000
/** Share of the time left that is waited: the rest must do for the page, or the wait was for nothing. */
const WAIT_SHARE_MAX = 0.75
/** Milliseconds that a host is left alone by everyone if it asks for fewer requests and does not say for how long. */
const PAUSE_MS = 2_000

export interface PatientRequestOptions {
  readonly request: Network['request']
  readonly turns: HostTurns
  readonly clock: Clock
  /** Throws for a URL, of a page or a redirect, that must not be requested; what it throws is not tried again. */
  readonly admit?: ((url: URL, signal: AbortSignal, timeLeft: () => number) => Promise<void>) | undefined
  /** From 0 to 1; for tests. */
  readonly random?: () => number
}

/**
 * Gets a page when it is its turn at the host, and tries again what may have passed: at most 3 times in all, and only
 * what `timeLeft` milliseconds allow. Any final status is an answer, not an error.
 * @throws {TargetError}
 */
export type PatientRequest = (url: string, signal: AbortSignal, timeLeft: () => number) => Promise<FetchedResponse>

/** What a try gave, whether it came to its last request, and how long to wait before the next one. */
type Try = { readonly isSent: boolean; readonly waitMs: number } & (
  | { readonly response: FetchedResponse }
  | { readonly error: TargetError }
)

export function createPatientRequest(options: PatientRequestOptions): PatientRequest {
  const { request, turns, clock, admit, random = Math.random } = options

  async function attempt(url: string, signal: AbortSignal, timeLeft: () => number, pauseMs: number): Promise<Try> {
    let isSent = false
    const takeTurn: Admit = async (next, limited) => {
      isSent = false
      await admit?.(next, limited, timeLeft)
      const leave = await turns.take(next.hostname, { signal: limited, timeLeft })
      isSent = true
      return leave
    }
    try {
      const response = await request(url, signal, takeTurn)
      return { response, isSent, waitMs: waitAfter(response, pauseMs) }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof TargetError)) throw error
      return { error, isSent, waitMs: isSent && isRetried(error.code) ? pauseMs : Infinity }
    }
  }

  /** @returns Infinity for an answer that stands. */
  function waitAfter({ status, headers, url }: FetchedResponse, pauseMs: number): number {
    if (!isRetried(`http_${status}`)) return Infinity
    const askedMs = retryAfterMs(headers['retry-after'], clock.now())
    if (status === 429 || status === 503) turns.pause(new URL(url).hostname, askedMs ?? PAUSE_MS, status)
    return askedMs !== undefined && askedMs > RETRY_AFTER_MS_MAX ? Infinity : Math.max(askedMs ?? 0, pauseMs)
  }

  return async (url, signal, timeLeft) => {
    let before: Try | undefined
    for (let attempts = 1; ; attempts += 1) {
      const tried = await attempt(url, signal, timeLeft, retryPauseMs(attempts, random))
      // What the server has said counts, not that there is no turn to ask it again.
      if (before !== undefined && !tried.isSent) return conclude(before, attempts - 1)
      if (attempts === TRIES_MAX || tried.waitMs > timeLeft() * WAIT_SHARE_MAX) return conclude(tried, attempts)
      await clock.delay(tried.waitMs, signal)
      before = tried
    }
  }
}

/** @throws {TargetError} */
function conclude(tried: Try, attempts: number): FetchedResponse {
  if ('response' in tried) return { ...tried.response, attempts }
  if (attempts === 1) throw tried.error
  const { code, message, hint } = tried.error
  throw new TargetError(code, withTries(message, attempts), { hint, cause: tried.error })
}

/** A sentence that tells how often something was tried, if it was more than once. */
export const withTries = (sentence: string, tries: number): string =>
  tries === 1 ? sentence : sentence.replace(/\.?$/, ` (tried ${tries} times).`)
