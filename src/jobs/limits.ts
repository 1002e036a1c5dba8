import { AppError } from '../errors.ts'

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
  { caller, targets }: { readonly caller: string; readonly targets: readonly unknown[] },
  live: readonly { readonly id: string; readonly caller: string }[],
  { targetsPerJobMax, jobsPerCallerMax, jobsTotalMax }: JobLimits,
): void {
  assertTargetCount(targets.length, targetsPerJobMax)
  const own = live.filter((job) => job.caller === caller)
  if (own.length >= jobsPerCallerMax) {
    throw new AppError('caller_busy', `You have ${own.length} live of at most ${jobsPerCallerMax} jobs.`, {
      hint: 'Wait for one to finish, or cancel it.',
      members: { limit: jobsPerCallerMax, jobs: own.map(({ id }) => id) },
    })
  }
  if (live.length >= jobsTotalMax) {
    throw new AppError('jobs_busy', `The service has ${live.length} live of at most ${jobsTotalMax} jobs.`, {
      hint: 'Try again in a minute.',
      members: { limit: jobsTotalMax },
    })
  }
}

/** @throws {AppError} `too_many_targets` */
export function assertTargetCount(count: number, max: number): void {
  if (count <= max) return
  throw new AppError('too_many_targets', `A job takes at most ${max} targets; this one has ${count}.`, {
    hint: 'Split the list into several jobs.',
    members: { limit: max },
  })
}
