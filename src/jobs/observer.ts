import type { Outcome } from './fetch-target.ts'
import { isFinal, type JobStatus, type WebhookState } from './states.ts'
import type { JobStore } from './store.ts'

/** Told what happens to jobs, once it is durable. Its methods are called in the middle of a drain: they do not throw. */
export interface JobObserver {
  jobStarted(): void
  /** Once for each job that started in this process and ended in it. */
  jobFinished(status: JobStatus): void
  /** At start-up: jobs that a dead process had left live. */
  jobsInterrupted(count: number): void
  /** @param durationMs from the start of the target to its outcome. */
  targetFinished(outcome: Outcome, durationMs: number): void
  /** @param state `pending` if there will be another attempt. */
  webhookAttempted(state: WebhookState): void
}

/** The store, which now tells the observer of each job that starts or ends and of each attempt on a webhook. */
export function observing(store: JobStore, observer: JobObserver): JobStore {
  /** At most as many as the cap on live jobs. */
  const live = new Set<string>()
  const ended = (id: string, status: JobStatus | undefined) => {
    if (status !== undefined && isFinal(status) && live.delete(id)) observer.jobFinished(status)
  }
  return {
    ...store,
    async submit(...submission) {
      const submitted = await store.submit(...submission)
      if (submitted.created) {
        live.add(submitted.snapshot.job.id)
        observer.jobStarted()
      }
      return submitted
    },
    async recordOutcome(id, ...outcome) {
      const status = await store.recordOutcome(id, ...outcome)
      ended(id, status)
      return status
    },
    async cancel(id, ...by) {
      const snapshot = await store.cancel(id, ...by)
      ended(id, snapshot?.job.status)
      return snapshot
    },
    async fail(id, at) {
      await store.fail(id, at)
      ended(id, 'failed')
    },
    async failInterrupted(at) {
      const count = await store.failInterrupted(at)
      observer.jobsInterrupted(count)
      return count
    },
    async recordWebhook(id, change) {
      await store.recordWebhook(id, change)
      observer.webhookAttempted(change.state)
    },
  }
}
