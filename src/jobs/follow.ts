import { after, type Clock } from '../clock.ts'
import type { JobChanges } from './changes.ts'
import { isFinal } from './states.ts'
import type { JobRecord, JobSnapshot, TargetRecord } from './store.ts'

/** A job that somebody waits for. */
export interface WatchedJob {
  readonly id: string
  readonly changes: JobChanges
  /** @throws {AppError} `job_not_found` */
  readonly read: () => Promise<JobSnapshot>
}

/** The job once it is final, or as it is when `waitMs` milliseconds are over or the signal aborts. */
export async function waitUntilFinal(
  { id, changes, read }: WatchedJob,
  { waitMs, clock, signal }: { readonly waitMs: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<JobSnapshot> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const callOff = after(waitMs, clock, () => over.abort())
  try {
    for (;;) {
      const changed = changes.next(id, either)
      const snapshot = await read()
      if (isFinal(snapshot.job.status) || either.aborted) return snapshot
      await changed
    }
  } finally {
    callOff()
    over.abort() // Nobody waits for a change any more.
  }
}

/** What a follower of a job is told: each target with an outcome, in order and once, then the job, which is final. */
export type FollowStep = { readonly target: TargetRecord } | { readonly job: JobRecord }

/**
 * Tells the targets from `from` on as they get their outcome, then the job once nothing of it can change. Ends there,
 * or when the signal aborts.
 * @param isDraining whether a target is in flight, as it may be after a cancel.
 */
export async function* followJob(
  { id, changes, read }: WatchedJob,
  {
    from,
    isDraining,
    signal,
  }: { readonly from: number; readonly isDraining: () => boolean; readonly signal: AbortSignal },
): AsyncGenerator<FollowStep, void, undefined> {
  const over = new AbortController()
  const until = AbortSignal.any([signal, over.signal])
  let next = from
  try {
    while (!signal.aborted) {
      const changed = changes.next(id, until)
      const isSettled = !isDraining()
      const { job, targets } = await read()
      for (let target = targets[next]; target && target.status !== 'pending'; target = targets[next]) {
        yield { target }
        next += 1
      }
      if (isFinal(job.status) && isSettled) {
        yield { job }
        return
      }
      await changed
    }
  } finally {
    over.abort() // Nobody waits for a change any more.
  }
}
