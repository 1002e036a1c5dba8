import type { WebhookChange } from './store.ts'
import type { WebhookAnswer } from './webhook-message.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Milliseconds from each failed attempt to the next. After as many failures and one more it is given up. */
export const WEBHOOK_RETRIES_MS = [
  5_000,
  30_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
] as const
/** A pause is longer by up to this part of it, so that those who failed together do not come back together. */
export const WEBHOOK_JITTER = 0.2

const GONE = 410
/** What the guard says of a URL. Asking again and again is what a probe of the network would do. */
const REFUSALS: ReadonlySet<string> = new Set(['blocked_address', 'blocked_port', 'invalid_url'])

/**
 * What comes after an attempt: any 2xx is the end of it, 410 and refusals of the guard are its failure, and all else
 * is tried again as long as the schedule lasts.
 * @param attempts made, with this one.
 * @param random from 0 to 1: how much of the jitter is used.
 */
export function afterAttempt(
  answer: WebhookAnswer,
  { attempts, now, random }: { readonly attempts: number; readonly now: number; readonly random: number },
): WebhookChange {
  if (isSuccess(answer)) return { state: 'delivered', lastError: undefined, dueAt: undefined }
  const lastError = describe(answer)
  const pause = isPermanent(answer) ? undefined : WEBHOOK_RETRIES_MS[attempts - 1]
  if (pause === undefined) return { state: 'failed', lastError, dueAt: undefined }
  return { state: 'pending', lastError, dueAt: now + Math.round(pause * (1 + WEBHOOK_JITTER * random)) }
}

const isSuccess = (answer: WebhookAnswer) => 'status' in answer && answer.status >= 200 && answer.status <= 299

const isPermanent = (answer: WebhookAnswer) =>
  'status' in answer ? answer.status === GONE : REFUSALS.has(answer.failure.error)

function describe(answer: WebhookAnswer): string {
  if ('status' in answer) return `http_${answer.status}: The server answered ${answer.status}.`
  return `${answer.failure.error}: ${answer.failure.message}`
}
