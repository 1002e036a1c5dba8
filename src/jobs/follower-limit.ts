import { AppError } from '../errors.ts'

/** Followers of all callers together: each outcome is told to all of its job, one after the other. */
const FOLLOWERS_TOTAL_MAX = 512
/** Followers of one caller, so that there is room for others. */
const FOLLOWERS_PER_CALLER_MAX = 256

/** How many follow jobs, which is bounded in all and for each caller. */
export interface FollowerLimit {
  /**
   * Takes a place until the signal aborts, which it must in the end: a follower that was never read from holds one, too.
   * @throws {AppError} `too_many_followers`
   */
  enter(caller: string, signal: AbortSignal): void
}

export function createFollowerLimit(): FollowerLimit {
  const byCaller = new Map<string, number>()
  let total = 0

  function add(caller: string, change: 1 | -1): void {
    const own = (byCaller.get(caller) ?? 0) + change
    if (own === 0) byCaller.delete(caller)
    else byCaller.set(caller, own)
    total += change
  }

  return {
    enter(caller, signal) {
      if (signal.aborted) return
      if ((byCaller.get(caller) ?? 0) >= FOLLOWERS_PER_CALLER_MAX) {
        throw tooMany('You follow', 'followers_per_caller', FOLLOWERS_PER_CALLER_MAX)
      }
      if (total >= FOLLOWERS_TOTAL_MAX)
        throw tooMany('All callers together follow', 'followers_total', FOLLOWERS_TOTAL_MAX)
      add(caller, 1)
      signal.addEventListener('abort', () => add(caller, -1), { once: true })
    },
  }
}

function tooMany(who: string, cap: string, limit: number): AppError {
  return new AppError(
    'too_many_followers',
    `${who} jobs with ${limit} requests already, which is the most there may be.`,
    {
      hint: 'Poll the job, or come back later with `from` or `Last-Event-ID`: nothing is missed.',
      members: { cap, limit },
    },
  )
}
