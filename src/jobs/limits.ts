import { AppError } from '../errors.ts'
import type { JobRecord, NewJob } from './store.ts'

/** The caps and the lease of the service. A value of zero, or none, means the default. */
export interface JobLimits {
  /** Milliseconds that a job is kept after its last outcome. */
  readonly leaseMs: number
  readonly targetsPerJobMax: number
  readonly jobsPerCallerMax: number
  /** Live jobs of all callers together. */
  readonly jobsTotalMax: number
}

export const DEFAULT_LIMITS: JobLimits = {
  leaseMs: 24 * 60 * 60 * 1_000,
  targetsPerJobMax: 32,
  jobsPerCallerMax: 1,
  jobsTotalMax: 8,
}

export function withDefaults(limits: Partial<JobLimits>): JobLimits {
  const set = Object.entries(limits).filter(([, value]) => value > 0)
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(set) }
}

/** A job whose worker runs. */
export type DrainedJob = Pick<JobRecord, 'id' | 'caller'>

/**
 * The caps on a new job, checked inside the transaction that would create it. A cancelled job is not live, but its last
 * target may be in flight for a while: as many such jobs as the cap allows cost nothing, further ones take a place, so
 * that nobody gets round a cap by cancelling.
 * @param live every live job there is.
 * @param draining every job whose worker runs, live or not.
 * @throws {AppError} `too_many_targets`, `caller_busy`, `jobs_busy`
 */
export function assertCaps(
  { caller, targets, createdAt: now }: Pick<NewJob, 'caller' | 'targets' | 'createdAt'>,
  live: readonly JobRecord[],
  { targetsPerJobMax, jobsPerCallerMax, jobsTotalMax, leaseMs }: JobLimits,
  draining: readonly DrainedJob[] = [],
): void {
  assertTargetCount(targets.length, targetsPerJobMax)
  const liveIds = new Set(live.map(({ id }) => id))
  const lingering = draining.filter(({ id }) => !liveIds.has(id))
  const own = live.filter((job) => job.caller === caller)
  const ownLingering = lingering.filter((job) => job.caller === caller)
  const jobs = own.map(({ id }) => id)
  const taken = (jobsLive: number, jobsLingering: number, max: number) => jobsLive + Math.max(0, jobsLingering - max)
  if (taken(own.length, ownLingering.length, jobsPerCallerMax) >= jobsPerCallerMax) {
    throw new AppError(
      'caller_busy',
      `You have ${count(own, ownLingering)}; at most ${jobsPerCallerMax} may be live.`,
      {
        hint:
          own.length > 0
            ? 'Wait for one to finish, or cancel it.'
            : 'Wait for the targets in flight to end; the time of each is limited.',
        members: {
          cap: 'jobs_per_caller',
          limit: jobsPerCallerMax,
          jobs,
          retry_after_s: secondsUntilFree(own, now, leaseMs),
        },
      },
    )
  }
  if (taken(live.length, lingering.length, jobsTotalMax) >= jobsTotalMax) {
    throw new AppError('jobs_busy', `The service has ${count(live, lingering)}; at most ${jobsTotalMax} may be live.`, {
      hint: 'Try again when one has had time to finish.',
      members: { cap: 'jobs_total', limit: jobsTotalMax, jobs, retry_after_s: secondsUntilFree(live, now, leaseMs) },
    })
  }
}

function count(live: readonly unknown[], lingering: readonly unknown[]): string {
  const jobs = `${live.length} live ${live.length === 1 ? 'job' : 'jobs'}`
  return lingering.length === 0 ? jobs : `${jobs} and ${lingering.length} cancelled with a target in flight`
}

/** @throws {AppError} `too_many_targets` */
export function assertTargetCount(count: number, max: number): void {
  if (count <= max) return
  throw new AppError('too_many_targets', `A job takes at most ${max} targets; this one has ${count}.`, {
    hint: 'Split the list into several jobs.',
    members: { cap: 'targets_per_job', limit: max },
  })
}

/** Milliseconds that a target is taken to need while the job has none to tell its pace by. */
const PACE_GUESS_MS = 2_000
/** The most that is told, in seconds. */
const WAIT_TOLD_MAX_S = 3_600

/** Whole seconds, at least 1, until the first of the jobs is done if each goes on at its own pace. */
function secondsUntilFree(live: readonly JobRecord[], now: number, leaseMs: number): number {
  const first = Math.min(...live.map((job) => millisecondsLeft(job, now, leaseMs)))
  return Math.max(1, Math.min(WAIT_TOLD_MAX_S, Math.ceil((Number.isFinite(first) ? first : PACE_GUESS_MS) / 1_000)))
}

function millisecondsLeft(job: JobRecord, now: number, leaseMs: number): number {
  const startedAt = job.startedAt ?? job.createdAt
  // Each outcome moves the lease, so the lease tells when the last one came.
  const inFlightMs = now - (job.targetsDone > 0 ? job.expiresAt - leaseMs : startedAt)
  const paceMs =
    job.targetsDone > 0 ? (job.expiresAt - leaseMs - startedAt) / job.targetsDone : Math.max(PACE_GUESS_MS, inFlightMs)
  const after = job.targetsTotal - job.targetsDone - 1
  return paceMs * after + Math.max(0, paceMs - inFlightMs)
}
