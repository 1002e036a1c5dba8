import type { Logger } from 'pino'

import type { Clock } from '../clock.ts'
import { AppError } from '../errors.ts'
import type { Outcome } from './fetch-target.ts'
import type { JobStatus } from './states.ts'
import type { JobStore } from './store.ts'
import { TargetError } from './target-error.ts'

/** Between the first two tries to store an outcome. Each pause is twice the one before, up to the longest. */
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 30_000
/** How long the outcomes of a job are kept for a store that refuses them: expired jobs are purged every minute. */
const PATIENCE_MS = 300_000

/** What is stored of a content that finds no room: it is small, so that the job goes on. */
const NO_ROOM: Outcome = {
  failure: new TargetError('no_room', 'The content was fetched, and the service had no room to keep it.').toFailure(),
}

export interface Recorded {
  /** What was stored: the outcome that was given, or that there was no room for it. */
  readonly outcome: Outcome
  /** The status of the job afterwards, undefined if it is gone. */
  readonly status: JobStatus | undefined
}

export interface OutcomeRecorderOptions {
  readonly store: Pick<JobStore, 'recordOutcome'>
  readonly clock: Clock
  readonly leaseMs: number
  readonly jobId: string
  readonly log: Logger
  /** Aborts when nothing may be waited for any more: the try after that is the last. */
  readonly signal: AbortSignal
}

/**
 * Stores the outcomes of one job, trying again while the store refuses them. After five minutes of refusals, a content
 * that finds no room becomes a failure of its target; those after it then wait no more until one finds room again. What
 * is a failure already stays the one it is.
 * @returns undefined if the signal has aborted and the outcome is not stored.
 * @throws what the store throws when it can keep nothing at all for that long, or fails.
 */
export function createOutcomeRecorder(options: OutcomeRecorderOptions) {
  const { store, clock, leaseMs, jobId, log, signal } = options
  /** Since when no content has been stored. */
  let roomlessSince: number | undefined

  const record = (idx: number, outcome: Outcome) => {
    const now = clock.now()
    return store.recordOutcome(jobId, idx, outcome, now, now + leaseMs)
  }

  return async (idx: number, fetched: Outcome): Promise<Recorded | undefined> => {
    let outcome = fetched
    let pauseMs = PAUSE_MS_MIN
    let refusedSince: number | undefined
    for (;;) {
      try {
        const status = await record(idx, outcome)
        if ('result' in outcome) roomlessSince = undefined
        return { outcome, status }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        log.warn({ err: error, idx }, 'the store refused an outcome')
        if (signal.aborted) return undefined
        const now = clock.now()
        refusedSince ??= now
        if ('result' in outcome) {
          roomlessSince ??= now
          if (error.code === 'storage_full' && now - roomlessSince >= PATIENCE_MS) {
            outcome = NO_ROOM
            continue
          }
        }
        if (now - refusedSince >= PATIENCE_MS) throw error
      }
      await clock.delay(pauseMs, signal).catch(() => {})
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
    }
  }
}
