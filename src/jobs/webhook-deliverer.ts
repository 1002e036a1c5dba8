import type { Logger } from 'pino'

import type { Clock } from '../clock.ts'
import { TimeLimitError, withTimeLimit } from '../time-limit.ts'
import type { JobChanges } from './changes.ts'
import type { Runner } from './runner.ts'
import type { DueWebhook, JobStore, WebhookChange } from './store.ts'
import { TargetError } from './target-error.ts'
import { untilStored } from './until-stored.ts'
import { createMessage, type DeliverWebhook, type MessageOptions, type WebhookAnswer } from './webhook-message.ts'
import { afterAttempt } from './webhook-schedule.ts'

/** From the look-up of the host to the status of the answer. */
const ATTEMPT_MS_MAX = 15_000
/** Attempts at the same time. */
const ATTEMPTS_MAX = 4
/** Those of one caller, so that servers of one that hang leave room for the others. */
const ATTEMPTS_PER_CALLER_MAX = 2
const LATE = new TargetError('timeout', `The server did not answer within ${ATTEMPT_MS_MAX / 1_000} s.`)
/**
 * Between two looks at the store if nothing changes: what is due in hours may be due in years after the clock was set back,
 * and at once after it was set right.
 */
const LOOK_INTERVAL_MS = 60_000

export interface WebhookDelivererOptions extends MessageOptions {
  readonly store: Pick<JobStore, 'nextWebhook' | 'recordWebhook'>
  /** Tells when a job may have ended, and is told of every attempt. */
  readonly changes: JobChanges
  readonly runner: Pick<Runner, 'isDraining'>
  readonly deliver: DeliverWebhook
  readonly clock: Clock
  readonly logger: Logger
  /** From 0 to 1, for the jitter of pauses. */
  readonly random?: () => number
}

export interface WebhookDeliverer {
  /** Aborts the attempts in flight, which are made again after the next start. Resolves when none is left. */
  close(): Promise<void>
}

/**
 * Tells the webhooks of ended jobs, each until it succeeds, is refused for good, or has had all its attempts. What is
 * to be done is read from the store each time, so that nothing depends on this process. An attempt that was made and
 * could not be stored before the process died is made again: at least once, not exactly once.
 */
export function startWebhookDeliverer(options: WebhookDelivererOptions): WebhookDeliverer {
  const { store, changes, runner, deliver, clock, logger, random = Math.random } = options
  const closing = new AbortController()
  const inFlight = new Map<string, { readonly caller: string; readonly ended: Promise<void> }>()

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const woken = new AbortController()
      const until = AbortSignal.any([closing.signal, woken.signal])
      const changed = changes.next(undefined, until)
      try {
        const onRefused = (error: unknown) => logger.error({ err: error }, 'looking for webhooks failed; trying again')
        const waitMs = (await untilStored(startDue, { clock, signal: closing.signal, onRefused })) - clock.now()
        if (waitMs > 0) await Promise.race([changed, pause(Math.min(waitMs, LOOK_INTERVAL_MS), until)])
      } finally {
        woken.abort()
      }
    }
  }

  /** Starts what is due while there is room. @returns when to look again if nothing changes, perhaps never. */
  async function startDue(): Promise<number> {
    const draining: string[] = []
    while (inFlight.size < ATTEMPTS_MAX && !closing.signal.aborted) {
      const exceptJobs = [...inFlight.keys(), ...draining]
      const next = await store.nextWebhook({ exceptJobs, exceptCallers: busyCallers() })
      if (next === undefined) return Infinity
      // A cancelled job still gets the outcome of its last target.
      if (runner.isDraining(next.job.id)) draining.push(next.job.id)
      else if (next.dueAt > clock.now()) return next.dueAt
      else start(next)
    }
    return Infinity
  }

  function busyCallers(): string[] {
    const callers = [...inFlight.values()].map(({ caller }) => caller)
    const countOf = (caller: string) => callers.filter((other) => other === caller).length
    return callers.filter((caller) => countOf(caller) >= ATTEMPTS_PER_CALLER_MAX)
  }

  function start(due: DueWebhook): void {
    const { id, caller } = due.job
    const ended = attempt(due)
      .catch((error: unknown) => {
        if (!closing.signal.aborted) logger.error({ err: error, jobId: id }, 'delivering a webhook failed')
      })
      .finally(() => {
        inFlight.delete(id)
        changes.announce(id)
      })
    inFlight.set(id, { caller, ended })
  }

  async function attempt(due: DueWebhook): Promise<void> {
    const startedAt = clock.now()
    const answer = await deliverWithDeadline(due)
    const now = clock.now()
    const attempts = due.webhook.attempts + 1
    const change = afterAttempt(answer, { attempts, now, random: random() })
    await record(due.job.id, change)
    const { state, lastError: error } = change
    logger.info({ jobId: due.job.id, attempts, state, error, durationMs: now - startedAt }, 'webhook attempted')
  }

  /** Rejects only when the service stops: what the delivery throws, or its silence, is a failed attempt. */
  async function deliverWithDeadline(due: DueWebhook): Promise<WebhookAnswer> {
    const send = (signal: AbortSignal) => deliver(createMessage(due, options, clock.now()), signal)
    try {
      return await withTimeLimit(ATTEMPT_MS_MAX, clock, closing.signal, send)
    } catch (error) {
      if (error instanceof TimeLimitError) return { failure: LATE.toFailure() }
      closing.signal.throwIfAborted()
      logger.error({ err: error, jobId: due.job.id }, 'delivering a webhook threw')
      return { failure: new TargetError('internal', 'The service failed on this webhook.').toFailure() }
    }
  }

  /** Tries until the store takes it: an attempt that is not stored would be made again at once, and for ever. */
  function record(id: string, change: WebhookChange): Promise<void> {
    const onRefused = (error: unknown) =>
      logger.error({ err: error, jobId: id }, 'storing an attempt on a webhook failed; trying again')
    return untilStored(() => store.recordWebhook(id, change), { clock, signal: closing.signal, onRefused })
  }

  /** Ends early when the signal aborts. */
  const pause = (ms: number, signal: AbortSignal) => clock.delay(ms, signal).catch(() => {})

  const ended = run().catch((error: unknown) => {
    if (!closing.signal.aborted) logger.error({ err: error }, 'webhooks are not delivered any more')
  })
  return {
    async close() {
      closing.abort()
      await ended
      await Promise.all([...inFlight.values()].map((delivery) => delivery.ended))
    },
  }
}
