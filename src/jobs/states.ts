import assert from 'node:assert/strict'

export const JOB_STATUSES = ['queued', 'running', 'done', 'partial', 'failed', 'cancelled'] as const
export const TARGET_STATUSES = ['pending', 'done', 'failed'] as const

/** `pending` from the submission on, until an attempt succeeds or none is left. */
export const WEBHOOK_STATES = ['pending', 'delivered', 'failed'] as const

export type JobStatus = (typeof JOB_STATUSES)[number]
export type TargetStatus = (typeof TARGET_STATUSES)[number]
export type WebhookState = (typeof WEBHOOK_STATES)[number]

/**
 * What can happen to a job. `restart` is found at start-up: the last process died while the job was live.
 * `crash` is our own fault: draining it threw.
 */
export type JobEvent = 'start' | 'allDone' | 'someFailed' | 'allFailed' | 'cancel' | 'crash' | 'restart'

/** The whole life of a job. A status without events is final; what is not listed cannot happen. */
export const JOB_TRANSITIONS = {
  queued: { start: 'running', cancel: 'cancelled', crash: 'failed', restart: 'failed' },
  running: {
    allDone: 'done',
    someFailed: 'partial',
    allFailed: 'failed',
    cancel: 'cancelled',
    crash: 'failed',
    restart: 'failed',
  },
  done: {},
  partial: {},
  failed: {},
  cancelled: {},
} as const satisfies Record<JobStatus, Partial<Record<JobEvent, JobStatus>>>

export function isFinal(status: JobStatus): boolean {
  return Object.keys(JOB_TRANSITIONS[status]).length === 0
}

/** The status after `event`, or undefined if the event cannot happen in `from`. */
export function nextStatus(from: JobStatus, event: JobEvent): JobStatus | undefined {
  const events: Partial<Record<JobEvent, JobStatus>> = JOB_TRANSITIONS[from]
  return events[event]
}

/** The event that ends a job of `total` targets, every one of which has an outcome, `failed` of them a failure. */
export function finishEvent(total: number, failed: number): JobEvent {
  assert(total > 0 && failed >= 0 && failed <= total, 'a finished job has targets, and no more failures than targets')
  if (failed === 0) return 'allDone'
  return failed === total ? 'allFailed' : 'someFailed'
}
