import type { Outcome } from './fetch-target.ts'
import type { DrainedJob, JobLimits } from './limits.ts'
import type { TargetOptions } from './schema.ts'
import type { JobStatus, TargetStatus, WebhookState } from './states.ts'

/** A job as kept. Times are milliseconds since the Unix epoch. */
export interface JobRecord {
  readonly id: string
  readonly caller: string
  readonly status: JobStatus
  /** Set if the job failed as a whole. */
  readonly error: JobError | undefined
  readonly targetsTotal: number
  /** Targets with an outcome, done or failed. */
  readonly targetsDone: number
  readonly targetsFailed: number
  readonly createdAt: number
  readonly startedAt: number | undefined
  /** Set if and only if the job is final. */
  readonly finishedAt: number | undefined
  /** End of the lease. */
  readonly expiresAt: number
  /** The job whose failed and pending targets this one fetches again. */
  readonly retryOf: string | undefined
  readonly webhook: WebhookRecord | undefined
}

/** Whom to tell that the job has ended, and how far that is. */
export interface WebhookRecord {
  readonly url: string
  readonly state: WebhookState
  /** Attempts made so far. */
  readonly attempts: number
  /** Why the last attempt failed. */
  readonly lastError: string | undefined
}

/** A webhook of a job that has ended. */
export interface DueWebhook {
  readonly job: JobRecord
  readonly webhook: WebhookRecord
  readonly messageId: string
  /** When the next attempt is due, in milliseconds since the Unix epoch. */
  readonly dueAt: number
}

/** What comes after an attempt. `dueAt` is set if and only if the state is `pending`. */
export type WebhookChange = Pick<WebhookRecord, 'state' | 'lastError'> & { readonly dueAt: number | undefined }

/** What `nextWebhook` passes over. */
export interface WebhookFilter {
  /** Ids of jobs. */
  readonly exceptJobs: readonly string[]
  readonly exceptCallers: readonly string[]
}

export type JobError = 'restart' | 'internal'

/** A target without its outcome, which can be megabytes. */
export interface TargetRecord {
  readonly idx: number
  readonly url: string
  readonly customId: string | undefined
  readonly options: TargetOptions
  readonly status: TargetStatus
}

/** A job and its targets by `idx`, read at one moment: the counts and the statuses agree. */
export interface JobSnapshot {
  readonly job: JobRecord
  readonly targets: readonly TargetRecord[]
}

export interface NewTarget {
  readonly url: string
  readonly customId: string | undefined
  readonly options: TargetOptions
}

export interface NewJob {
  /** UUID version 7: its order is the order of creation. */
  readonly id: string
  readonly caller: string
  /** SHA-256 of the caller and the canonical targets. The same key is the same submission. */
  readonly key: Uint8Array
  readonly targets: readonly NewTarget[]
  readonly createdAt: number
  readonly expiresAt: number
  readonly retryOf?: string | undefined
  readonly webhook?: NewWebhook | undefined
}

export interface NewWebhook {
  readonly url: string
  /** Names the message in all its attempts. */
  readonly messageId: string
}

/**
 * Where jobs live. One method is one transaction; every promise resolves once the change is durable and rejects if
 * it was not made. A job is live while it is `queued` or `running`, whatever its lease. Whatever ends a job makes its
 * webhook due at that moment, in the same transaction. Every method can reject with an `AppError`: `storage_full` if it
 * changes something, `storage_unavailable` if the database cannot be written or read.
 */
export interface JobStore {
  /**
   * Adds a job and starts it, so that it is `running`; or, if `reuse`, returns the caller's newest job of the same key
   * whose lease lasts beyond `createdAt`, and changes nothing. Look-up, caps and creation are one transaction.
   * @param draining jobs whose worker runs, for the caps; see `assertCaps`.
   * @throws {AppError} `too_many_targets`, `caller_busy`, `jobs_busy`
   */
  submit(
    job: NewJob,
    limits: JobLimits,
    reuse: boolean,
    draining?: readonly DrainedJob[],
  ): Promise<{ snapshot: JobSnapshot; created: boolean }>

  /**
   * Stores how a pending target ended, counts it and moves the lease. When it is the last one of a running job, the job
   * gets its final status in the same transaction. The target in flight of a cancelled job is stored too.
   * @returns the status of the job afterwards, undefined if it is gone; its worker goes on only while it is `running`.
   */
  recordOutcome(
    id: string,
    idx: number,
    outcome: Outcome,
    at: number,
    expiresAt: number,
  ): Promise<JobStatus | undefined>

  /**
   * Cancels a live job of `caller`, so that of a cancel and the last outcome one wins.
   * @returns the job as it is now, whether or not this call changed it; undefined if the caller has no such job.
   */
  cancel(id: string, caller: string, at: number): Promise<JobSnapshot | undefined>

  /** Ends a live job that cannot go on, with error `internal`. Does nothing to a final one. */
  fail(id: string, at: number): Promise<void>

  /** Ends every job that a dead process left live, with error `restart`. Returns how many. */
  failInterrupted(at: number): Promise<number>

  /** The job, unless it is final and its lease ended at or before `at`, or it is not the caller's. */
  find(id: string, caller: string, at: number): Promise<JobSnapshot | undefined>

  /**
   * The stored outcome as UTF-8 JSON, byte for byte as it will always be: `{"result":…}` or
   * `{"error":…,"message":…,"hint":…}`. Undefined while the target is pending, or when there is no such target.
   * @throws {AppError} `storage_unavailable`, also if its bytes are not those that were stored.
   */
  readOutcome(id: string, idx: number): Promise<Uint8Array | undefined>

  /** The caller's jobs that have not expired, newest first, at most `limit`, from the one before id `after`. */
  list(caller: string, at: number, limit: number, after: string | undefined): Promise<JobRecord[]>

  /** The pending webhook of an ended job whose next attempt is due first, be it now or later; undefined if there is none. */
  nextWebhook(filter: WebhookFilter): Promise<DueWebhook | undefined>

  /** Counts an attempt on the pending webhook of a job and stores what comes after it. Does nothing if the job is gone. */
  recordWebhook(id: string, change: WebhookChange): Promise<void>

  /**
   * Removes final jobs whose lease ended at or before `at`, each with all that belongs to it in its own transaction, until
   * there are no more or the signal aborts. Returns how many.
   */
  purgeExpired(at: number, signal?: AbortSignal): Promise<number>

  /** Bytes of the database. Cheap enough to ask for often. */
  size(): Promise<number>

  /** Writes and reads back one row. @throws if the store cannot keep anything. */
  probe(): Promise<void>

  close(): Promise<void>
}
