import type { Clock } from '../../clock.ts'
import { isRetried, TargetError } from '../../jobs/target-error.ts'
import type { PostMessage } from '../network/network.ts'
import type { FetchedResponse } from '../network/response.ts'
import { retryAfterMs } from '../network/retry-after.ts'
import { isSuccess, statusText } from '../network/status.ts'
import { retryPauseMs, TRIES_MAX } from '../retry-pause.ts'
import { ModelError } from './model-error.ts'

/** Milliseconds that an endpoint may ask to wait. Who asks for more gets no second try. */
const RETRY_AFTER_MS_MAX = 5_000

export interface SendOptions {
  readonly post: (url: string, message: PostMessage, signal: AbortSignal) => Promise<FetchedResponse>
  readonly clock: Clock
  /** From 0 to 1; for tests. */
  readonly random?: () => number
}

/** One try: an answer, or why there is none and how long to wait, in milliseconds; undefined if waiting is no use. */
type Try = { readonly response: FetchedResponse } | { readonly fault: ModelError; readonly waitMs: number | undefined }

/**
 * Sends a message until it is answered with success, at most 3 times, with full jitter between.
 * @throws {ModelError}
 */
export async function sendPatiently(
  url: string,
  message: PostMessage,
  { post, clock, random = Math.random }: SendOptions,
  signal: AbortSignal,
): Promise<FetchedResponse> {
  for (let tries = 1; ; tries += 1) {
    const waitMs = retryPauseMs(tries, random)
    const outcome = await post(url, message, signal).then(
      (response) => judge(response, waitMs, clock.now()),
      (error: unknown) => judgeError(error, waitMs),
    )
    if ('response' in outcome) return outcome.response
    if (outcome.waitMs === undefined || tries === TRIES_MAX) throw outcome.fault
    await clock.delay(outcome.waitMs, signal)
  }
}

function judge(response: FetchedResponse, waitMs: number, now: number): Try {
  const { status, headers } = response
  if (isSuccess(status)) return { response }
  const fault = new ModelError(`The model endpoint answered ${statusText(status)}.`)
  if (status !== 429 && status < 500) return { fault, waitMs: undefined }
  const askedMs = retryAfterMs(headers['retry-after'], now) ?? 0
  return { fault, waitMs: askedMs > RETRY_AFTER_MS_MAX ? undefined : Math.max(askedMs, waitMs) }
}

/** @throws what is no failure of the network, such as the reason of an abort. */
function judgeError(error: unknown, waitMs: number): Try {
  if (!(error instanceof TargetError)) throw error
  const fault = new ModelError(`The model endpoint cannot be used: ${error.message}`, { cause: error })
  return { fault, waitMs: isRetried(error.code) ? waitMs : undefined }
}
