import type { Logger } from 'pino'

import type { Clock } from '../clock.ts'
import { TimeLimitError, withTimeLimit } from '../time-limit.ts'
import type { FetchTarget, Outcome } from './fetch-target.ts'
import type { DrainedJob } from './limits.ts'
import type { JobObserver } from './observer.ts'
import { createOutcomeRecorder } from './outcome-recorder.ts'
import { isFinal } from './states.ts'
import type { JobSnapshot, JobStore, TargetRecord } from './store.ts'
import { TargetError } from './target-error.ts'
import { untilStored } from './until-stored.ts'

export interface Runner {
  /** Starts draining a running job in the background. */
  start(snapshot: JobSnapshot): void
  /** Whether a drain of the job runs, which may be in its last target after a cancel. */
  isDraining(id: string): boolean
  /** Every job that is being drained. */
  draining(): DrainedJob[]
  /** Resolves when no job is being drained. */
  idle(): Promise<void>
  /**
   * Starts no further target, gives those in flight up to `graceMs` to end and be stored, then aborts them.
   * Resolves when every drain has stopped. Jobs that were not finished stay live in the store.
   */
  close(graceMs: number): Promise<void>
}

export interface RunnerOptions {
  readonly store: Pick<JobStore, 'recordOutcome' | 'fail'>
  readonly fetchTarget: FetchTarget
  readonly clock: Clock
  readonly logger: Logger
  /** From the start of a target to its outcome, in milliseconds. */
  readonly targetTimeoutMs: number
  readonly leaseMs: number
  /** Told of each outcome once it is stored. */
  readonly onOutcome?: JobObserver['targetFinished']
  /** Told of each job that is not drained any more. */
  readonly onDrained?: (id: string) => void
}

/** Drains jobs: the targets of one job strictly one at a time, in order, each outcome durable before the next starts. */
export function createRunner(options: RunnerOptions): Runner {
  const { store, fetchTarget, clock, logger, targetTimeoutMs, leaseMs, onOutcome, onDrained = () => {} } = options
  const drains = new Map<string, { readonly job: DrainedJob; readonly ended: Promise<void> }>()
  /** Aborts when no further target may start. */
  const closing = new AbortController()
  /** Aborts when targets in flight may not go on either. */
  const closed = new AbortController()

  async function drain({ job, targets }: JobSnapshot, log: Logger): Promise<void> {
    const { signal } = closed
    const record = createOutcomeRecorder({ store, clock, leaseMs, jobId: job.id, log, signal })
    for (const target of targets) {
      if (closing.signal.aborted) return
      const startedAt = clock.now()
      const fetched = await fetchWithDeadline(target, log)
      if (signal.aborted) return
      const durationMs = clock.now() - startedAt
      const recorded = await record(target.idx, fetched)
      if (recorded === undefined) return
      const { outcome, status } = recorded
      const error = 'failure' in outcome ? outcome.failure.error : undefined
      log.info({ idx: target.idx, error, durationMs }, 'target finished')
      onOutcome?.(outcome, durationMs)
      if (status === undefined || isFinal(status)) return log.info({ status }, 'job finished')
    }
  }

  /** Never rejects: what the fetch throws, or its silence, is the outcome of its target. */
  async function fetchWithDeadline({ url, options }: TargetRecord, log: Logger): Promise<Outcome> {
    const fetch = (signal: AbortSignal) => fetchTarget({ url, options }, signal)
    try {
      return await withTimeLimit(targetTimeoutMs, clock, closed.signal, fetch)
    } catch (error) {
      if (error instanceof TimeLimitError) return { failure: late(targetTimeoutMs).toFailure() }
      if (!closed.signal.aborted) log.error({ err: error }, 'fetching a target threw')
      return { failure: new TargetError('internal', 'The service failed on this target.').toFailure() }
    }
  }

  /** Ends a job that cannot be drained, however long the store takes to accept that, so that its slot comes free. */
  async function fail(id: string, log: Logger): Promise<void> {
    const onRefused = (error: unknown) => log.error({ err: error }, 'ending a job failed; trying again')
    const ended = untilStored(() => store.fail(id, clock.now()), { clock, signal: closed.signal, onRefused })
    await ended.catch(() => {}) // The service stops; its next start ends the job.
  }

  async function idle(): Promise<void> {
    while (drains.size > 0) await Promise.all([...drains.values()].map(({ ended }) => ended))
  }

  return {
    start(snapshot) {
      const log = logger.child({ jobId: snapshot.job.id })
      const ended = drain(snapshot, log)
        .catch(async (error: unknown) => {
          log.error({ err: error }, 'draining a job failed')
          await fail(snapshot.job.id, log)
        })
        .finally(() => {
          drains.delete(snapshot.job.id)
          onDrained(snapshot.job.id)
        })
      drains.set(snapshot.job.id, { job: snapshot.job, ended })
    },
    isDraining: (id) => drains.has(id),
    draining: () => [...drains.values()].map(({ job }) => job),
    idle,
    async close(graceMs) {
      closing.abort()
      const drained = new AbortController()
      const grace = clock.delay(graceMs, drained.signal).catch(() => {})
      await Promise.race([idle(), grace])
      drained.abort()
      closed.abort()
      await idle()
    },
  }
}

const late = (ms: number) => new TargetError('timeout', `The target took longer than ${ms / 1_000} s.`)
