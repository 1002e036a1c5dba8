import { randomUUIDv7 } from 'node:crypto'

import type { Clock } from '../clock.ts'
import { AppError } from '../errors.ts'
import { resolveTargets, submissionKey } from './key.ts'
import type { JobLimits } from './limits.ts'
import type { Runner } from './runner.ts'
import type { Submission } from './schema.ts'
import type { JobRecord, JobSnapshot, JobStore } from './store.ts'

export interface JobServiceOptions {
  readonly store: JobStore
  readonly runner: Pick<Runner, 'start'>
  readonly clock: Clock
  readonly limits: JobLimits
}

/** What a caller can do with jobs. Knows nothing of HTTP. A job belongs to its caller: others do not find it. */
export interface JobService {
  /**
   * Starts a job, or returns the one that the same submission made before.
   * @throws {AppError} `too_many_targets`, `caller_busy`, `jobs_busy`, `shutting_down`, `storage_full`
   */
  submit(caller: string, submission: Submission): Promise<{ snapshot: JobSnapshot; created: boolean }>
  /** @throws {AppError} `job_not_found` */
  get(caller: string, id: string): Promise<JobSnapshot>
  /** The stored outcome of a target as UTF-8 JSON, undefined while it is pending. */
  readOutcome(id: string, idx: number): Promise<Uint8Array | undefined>
  /** Newest first, at most `limit`; `next` continues after the last one. */
  list(
    caller: string,
    limit: number,
    after: string | undefined,
  ): Promise<{ jobs: JobRecord[]; next: string | undefined }>
  /**
   * The target in flight is finished and stored; later ones stay pending. Cancelling again changes nothing.
   * @throws {AppError} `job_not_found`, `job_finished`
   */
  cancel(caller: string, id: string): Promise<JobSnapshot>
  /** Refuses every submission from now on. */
  stop(): void
  /** @throws {AppError} `shutting_down`, `storage_full`, `storage_unavailable` */
  assertReady(): Promise<void>
}

export function createJobService({ store, runner, clock, limits }: JobServiceOptions): JobService {
  let stopping = false

  function assertOpen(): void {
    if (!stopping) return
    throw new AppError('shutting_down', 'The service is shutting down.', { hint: 'Try again in a moment.' })
  }

  return {
    async submit(caller, { targets, options, reuse = true }) {
      assertOpen()
      const createdAt = clock.now()
      const resolved = resolveTargets(targets, options)
      const job = {
        id: randomUUIDv7(),
        caller,
        key: submissionKey(caller, resolved),
        targets: resolved,
        createdAt,
        expiresAt: createdAt + limits.leaseMs,
      }
      const submitted = await store.submit(job, limits, reuse)
      if (submitted.created) runner.start(submitted.snapshot)
      return submitted
    },

    async get(caller, id) {
      return (await store.find(id, caller, clock.now())) ?? notFound()
    },

    readOutcome: store.readOutcome,

    async list(caller, limit, after) {
      const jobs = await store.list(caller, clock.now(), limit + 1, after)
      const page = jobs.slice(0, limit)
      return { jobs: page, next: jobs.length > limit ? page.at(-1)?.id : undefined }
    },

    async cancel(caller, id) {
      const snapshot = (await store.cancel(id, caller, clock.now())) ?? notFound()
      if (snapshot.job.status === 'cancelled') return snapshot
      throw new AppError('job_finished', `The job has already ended as ${snapshot.job.status}.`, {
        hint: 'Its results can still be read.',
      })
    },

    stop() {
      stopping = true
    },

    async assertReady() {
      assertOpen()
      await store.probe()
    },
  }
}

function notFound(): never {
  throw new AppError('job_not_found', 'There is no such job.', {
    hint: 'Check the id; jobs are removed when they expire.',
  })
}
