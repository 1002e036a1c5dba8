import { randomUUIDv7 } from 'node:crypto'

import type { Clock } from '../clock.ts'
import { AppError, jobNotFound, validationFailed } from '../errors.ts'
import { createCallerPlaces } from './caller-places.ts'
import type { JobChanges } from './changes.ts'
import { assertProgramsCompile, type CheckPrograms } from './check-programs.ts'
import { type FollowStep, followJob, waitUntilFinal, type WatchedJob } from './follow.ts'
import { createFollowerLimit } from './follower-limit.ts'
import { createJobIds } from './job-id.ts'
import { resolveTargets, submissionKey } from './key.ts'
import type { JobLimits } from './limits.ts'
import type { Runner } from './runner.ts'
import type { Submission, Webhook } from './schema.ts'
import { shareReads } from './share-reads.ts'
import { isFinal } from './states.ts'
import type { JobRecord, JobSnapshot, JobStore, NewTarget, NewWebhook, TargetRecord } from './store.ts'

/** Requests that may wait for a job at the same time; more are answered at once. */
const WAITERS_TOTAL_MAX = 64
/**
 * Those of one caller. Only who has a live job can wait, so with the default caps, which allow 8 of them, everybody's
 * share is there.
 */
const WAITERS_PER_CALLER_MAX = 8

export interface JobServiceOptions {
  /** Announces its changes to `changes`. */
  readonly store: JobStore
  readonly changes: JobChanges
  readonly runner: Pick<Runner, 'start' | 'isDraining' | 'draining'>
  readonly checkPrograms: CheckPrograms
  readonly clock: Clock
  readonly limits: JobLimits
  /** Whether there is a secret to sign webhooks with, so that a job can have one. */
  readonly takesWebhooks: boolean
}

export interface Submitted {
  readonly snapshot: JobSnapshot
  /** False if it is an earlier job. */
  readonly created: boolean
}

/** What a caller can do with jobs. Knows nothing of HTTP. A job belongs to its caller: others do not find it. */
export interface JobService {
  /**
   * Starts a job, or returns the one that the same submission made before.
   * @throws {AppError} `validation_failed` (a program that does not compile, a webhook that cannot be signed),
   * `too_many_targets`, `caller_busy`, `jobs_busy`, `shutting_down`, `storage_full`
   */
  submit(caller: string, submission: Submission): Promise<Submitted>
  /**
   * Starts a job of the targets of a final job that failed or never ran, with the same webhook, or returns the one that
   * was made so before.
   * @throws {AppError} `job_not_found`, `job_not_finished`, `nothing_to_retry`, and what `submit` throws
   */
  retry(caller: string, id: string): Promise<Submitted>
  /** @throws {AppError} `job_not_found` */
  get(caller: string, id: string): Promise<JobSnapshot>
  /**
   * As `get`, but waits until the job is final: at most `waitMs` milliseconds, until the signal aborts or the service
   * stops. While too many wait, of this caller or in all, `granted` is false and the job is as it is now.
   */
  wait(
    caller: string,
    id: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly snapshot: JobSnapshot; readonly granted: boolean }>
  /**
   * Tells each outcome from `from` on as it comes, in order and once, then the final job. Ends early when the signal
   * aborts or the service stops.
   * @param signal aborts in the end, whether or not anything was read: until then this counts as a follower.
   * @throws {AppError} `job_not_found`, also later, if the job is purged meanwhile; `too_many_followers`
   */
  follow(caller: string, id: string, from: number, signal: AbortSignal): Promise<AsyncGenerator<FollowStep>>
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
  /** Refuses every submission from now on, and ends whatever waits or follows. */
  stop(): void
  /** @throws {AppError} `shutting_down`, `storage_full`, `storage_unavailable` */
  assertReady(): Promise<void>
}

interface Start {
  readonly targets: readonly NewTarget[]
  readonly reuse: boolean
  readonly webhook: Webhook | undefined
  readonly retryOf?: string
}

export function createJobService(options: JobServiceOptions): JobService {
  const { store, changes, runner, checkPrograms, clock, limits, takesWebhooks } = options
  const stopping = new AbortController()
  const nextId = createJobIds()
  const followers = createFollowerLimit()
  const waiters = createCallerPlaces({ totalMax: WAITERS_TOTAL_MAX, perCallerMax: WAITERS_PER_CALLER_MAX })

  function assertOpen(): void {
    if (!stopping.signal.aborted) return
    throw new AppError('shutting_down', 'The service is shutting down.', { hint: 'Try again in a moment.' })
  }

  const get = async (caller: string, id: string) => (await store.find(id, caller, clock.now())) ?? notFound()
  const sharedGet = shareReads(get, changes)
  const watched = (caller: string, id: string): WatchedJob => ({ id, changes, read: () => sharedGet(caller, id) })

  function assertWebhook({ webhook }: Submission): void {
    if (webhook === undefined || takesWebhooks) return
    const detail = 'Webhooks are off here: the operator must set PAGEHAUL_WEBHOOK_SECRET.'
    throw validationFailed([{ pointer: '/webhook', detail }])
  }

  async function start(caller: string, { targets, reuse, webhook, retryOf }: Start): Promise<Submitted> {
    assertOpen()
    const createdAt = clock.now()
    const key = submissionKey(caller, targets, retryOf)
    const expiresAt = createdAt + limits.leaseMs
    const job = {
      id: nextId(),
      caller,
      key,
      targets,
      createdAt,
      expiresAt,
      retryOf,
      webhook: toNewWebhook(webhook),
    }
    const submitted = await store.submit(job, limits, reuse, runner.draining())
    if (submitted.created) runner.start(submitted.snapshot)
    return submitted
  }

  return {
    async submit(caller, submission) {
      assertOpen()
      assertWebhook(submission)
      // A list that is too long is refused for that, or is an earlier job, whose programs do compile.
      if (submission.targets.length <= limits.targetsPerJobMax)
        await assertProgramsCompile(submission, caller, checkPrograms)
      const { targets, options: defaults, reuse = true, webhook } = submission
      return start(caller, { targets: resolveTargets(targets, defaults), reuse, webhook })
    },

    async retry(caller, id) {
      const { job, targets } = await get(caller, id)
      if (!isFinal(job.status)) {
        throw new AppError('job_not_finished', 'The job has not ended yet.', {
          hint: 'Wait for it, or cancel it first.',
        })
      }
      if (runner.isDraining(id)) {
        throw new AppError(
          'job_not_finished',
          'The target that was in flight when the job was cancelled is not stored yet.',
          {
            hint: 'Follow the job to its end, or try again in a moment.',
          },
        )
      }
      const left = targets.filter(({ status }) => status !== 'done')
      const webhook = takesWebhooks ? job.webhook : undefined
      if (left.length > 0) return start(caller, { targets: left.map(toNewTarget), reuse: true, webhook, retryOf: id })
      throw new AppError('nothing_to_retry', 'Every target of the job is done.', {
        hint: 'To fetch them anew, submit them with `"reuse": false`.',
      })
    },

    get,

    async wait(caller, id, waitMs, signal) {
      if (waiters.full(caller)) return { snapshot: await get(caller, id), granted: false }
      const leave = waiters.take(caller)
      try {
        const until = AbortSignal.any([signal, stopping.signal])
        return { snapshot: await waitUntilFinal(watched(caller, id), { waitMs, clock, signal: until }), granted: true }
      } finally {
        leave()
      }
    },

    async follow(caller, id, from, signal) {
      const job = watched(caller, id)
      await job.read()
      followers.enter(caller, signal)
      const until = AbortSignal.any([signal, stopping.signal])
      return followJob(job, { from, isDraining: () => runner.isDraining(id), signal: until })
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

    stop: () => stopping.abort(),

    async assertReady() {
      assertOpen()
      await store.probe()
    },
  }
}

const toNewTarget = ({ url, customId, options }: TargetRecord): NewTarget => ({ url, customId, options })

const toNewWebhook = (webhook: Webhook | undefined): NewWebhook | undefined =>
  webhook && { url: webhook.url, messageId: `msg_${randomUUIDv7()}` }

function notFound(): never {
  throw jobNotFound()
}
