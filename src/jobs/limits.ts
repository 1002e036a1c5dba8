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

/**
 * The caps on a new job, checked inside the transaction that would create it.
 * @param live every live job there is.
 * @throws {AppError} `too_many_targets`, `caller_busy`, `jobs_busy`
 */
export function assertCaps(
  { caller, targets, createdAt: now }: Pick<NewJob, 'caller' | 'targets' | 'createdAt'>,
  live: readonly JobRecord[],
  { targetsPerJobMax, jobsPerCallerMax, jobsTotalMax }: JobLimits,
): void {
  assertTargetCount(targets.length, targetsPerJobMax)
  const own = live.filter((job) => job.caller === caller)
  const jobs = own.map(({ id }) => id)
  if (own.length >= jobsPerCallerMax) {
    throw new AppError('caller_busy', `You have ${own.length} live of at most ${jobsPerCallerMax} jobs.`, {
      hint: 'Wait for one to finish, or cancel it.',
      members: { cap: 'jobs_per_caller', limit: jobsPerCallerMax, jobs, retry_after_s: secondsUntilFree(own, now) },
    })
  }
  if (live.length >= jobsTotalMax) {
    throw new AppError('jobs_busy', `The service has ${live.length} live of at most ${jobsTotalMax} jobs.`, {
      hint: 'Try again when one has had time to finish.',
      members: { cap: 'jobs_total', limit: jobsTotalMax, jobs, retry_after_s: secondsUntilFree(live, now) },
    })
  }
}

/** @throws {AppError} `too_many_targets` */
export function assertTargetCount(count: number, max: number): void {
  if (count <= max) return
  throw new AppError('too_many_targets', `A job takes at most ${max} targets; this one has ${count}.`, {
    hint: 'Split the list into several jobs.',
    members: { cap: 'targets_per_job', limit: max },
  })
}

/** Seconds that a target is taken to need while the job has none to tell its pace by, and the most that is told. */
const PACE_GUESS_S = 2
const WAIT_TOLD_MAX_S = 3_600

/** Whole seconds, at least 1, until the first of the jobs is done if each goes on at its own pace. */
function secondsUntilFree(live: readonly JobRecord[], now: number): number {
  const seconds = live.map(({ targetsTotal, targetsDone, startedAt, createdAt }) => {
    const elapsed = Math.max(0, now - (startedAt ?? createdAt)) / 1_000
    // The target in flight counts half: some of it is done.
    const pace = targetsDone > 0 ? elapsed / (targetsDone + 0.5) : Math.max(PACE_GUESS_S, elapsed)
    return Math.ceil(pace * (targetsTotal - targetsDone))
  })
  return Math.min(WAIT_TOLD_MAX_S, Math.max(1, ...(seconds.length > 0 ? [Math.min(...seconds)] : [])))
}
