import { AppError } from '../errors.ts'
import { createCallerPlaces } from './caller-places.ts'

/** Followers of all callers together: each outcome is told to all of its job, one after the other. */
const FOLLOWERS_TOTAL_MAX = 512
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
  const places = createCallerPlaces({ totalMax: FOLLOWERS_TOTAL_MAX, perCallerMax: FOLLOWERS_PER_CALLER_MAX })
  return {
    enter(caller, signal) {
      if (signal.aborted) return
      const full = places.full(caller)
      if (full === 'caller') throw tooMany('You follow', 'followers_per_caller', FOLLOWERS_PER_CALLER_MAX)
      if (full === 'total') throw tooMany('All callers together follow', 'followers_total', FOLLOWERS_TOTAL_MAX)
      signal.addEventListener('abort', places.take(caller), { once: true })
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
