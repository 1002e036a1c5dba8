import type { Clock } from '../../clock.ts'
import { TargetError, type TargetErrorCode } from '../../jobs/target-error.ts'
import { withTimeLimit } from '../../time-limit.ts'
import type { FetchedResponse } from '../network/response.ts'
import { retryAfterMs } from '../network/retry-after.ts'
import { statusText } from '../network/status.ts'
import { type ArchiveError, notAsked } from './archive-error.ts'

/** Milliseconds that a throttled archive is left alone if it does not say how long, and at most. */
const PAUSE_MS = 60_000
const PAUSE_MS_MAX = 3_600_000

export interface AskOptions {
  readonly request: (url: string, signal: AbortSignal) => Promise<FetchedResponse>
  readonly clock: Clock
}

/**
 * Sends a request to the archive, with a limit in milliseconds. Its answer may have any status but the archive's own 429.
 * @throws {ArchiveError} if the archive does not answer, or wants to be left alone.
 * @throws {TargetError} if it did answer, but not so that it could be used, and if the guard refuses.
 */
export type Ask = (url: string, timeMsMax: number, signal: AbortSignal) => Promise<FetchedResponse>

/** Once an archive has asked for fewer requests, none is sent to it until its time is over, for any page. */
export function createAsk({ request, clock }: AskOptions): Ask {
  let pausedUntil = 0

  return async (url, timeMsMax, signal) => {
    pausedUntil = Math.min(pausedUntil, clock.now() + PAUSE_MS_MAX) // After a clock was set back, it would be far away.
    if (clock.now() < pausedUntil) throw throttled(pausedUntil - clock.now())
    const response = await inTime(timeMsMax, clock, signal, (limited) => request(url, limited))
    if (response.status === 429 && !isCapture(response)) {
      const askedMs = retryAfterMs(response.headers['retry-after'], clock.now()) ?? PAUSE_MS
      const pauseMs = Math.min(askedMs, PAUSE_MS_MAX)
      pausedUntil = clock.now() + pauseMs
      throw throttled(pauseMs)
    }
    return response
  }
}

/**
 * Waits for something that the archive needs.
 * @throws {ArchiveError} if it takes too long, or if a connection fails.
 */
export async function inTime<T>(
  timeMsMax: number,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeMsMax <= 0) throw slow()
  try {
    return await withTimeLimit(timeMsMax, clock, signal, work, slow)
  } catch (error) {
    if (error instanceof TargetError && !NO_OUTAGES.has(error.code)) throw notAsked(clauseOf(error), { cause: error })
    throw error
  }
}

/** Whether an answer is what a site once said, not what the archive itself says. */
export function isCapture({ headers }: FetchedResponse): boolean {
  return 'memento-datetime' in headers
}

/** What an answer that cannot be used leads to. */
export function badAnswer({ status }: FetchedResponse): ArchiveError {
  return notAsked(`it answered ${statusText(status)}`)
}

/** What a request without a usable answer leads to, if there is no other way. */
export function noAnswer(cause: TargetError): ArchiveError {
  const { code, hint } = cause
  if (code === 'invalid_url') return notAsked(clauseOf(cause), { hint: 'The URL is too long for the archive.', cause })
  if (code.startsWith('blocked_')) return notAsked(clauseOf(cause), { hint, cause })
  return notAsked('its answer cannot be used', { cause })
}

/** Failures that say nothing of whether the archive is there. */
const NO_OUTAGES: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  'blocked_address',
  'blocked_port',
  'invalid_url',
  'bad_response',
  'bad_encoding',
  'bad_redirect',
  'redirect_loop',
  'too_many_redirects',
  'too_large',
])

/** The sentence of an error as a clause. */
const clauseOf = ({ message }: TargetError) => message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '')

const slow = () => notAsked('it did not answer in time')

const throttled = (pauseMs: number) =>
  notAsked(`it asks for fewer requests, and for none for ${Math.ceil(pauseMs / 1_000)} s`)
