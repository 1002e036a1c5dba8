import type { Clock } from '../../clock.ts'
import { TargetError } from '../../jobs/target-error.ts'
import type { HostTurns } from '../network/host-turns.ts'
import type { Network } from '../network/network.ts'
import { createPolicyCache, type Policy } from './policy-cache.ts'
import { createReadPolicy } from './read-policy.ts'
import { isAllowed, productToken } from './rules.ts'
import { shareWork } from './share-work.ts'

const LACK_HINT = 'Nothing of a site is fetched while its robots.txt cannot be had; try again later.'

export interface RobotsOptions {
  readonly request: Network['request']
  readonly turns: HostTurns
  readonly clock: Clock
  /** What requests say they come from. Its first word, up to the version, is the name that a robots.txt knows. */
  readonly userAgent: string
  /** From 0 to 1; for tests. */
  readonly random?: () => number
}

/** Keeps to what sites ask of programs in their robots.txt (RFC 9309). */
export interface Robots {
  /**
   * Passes if the robots.txt of a URL's scheme, host and port allows it to be fetched. All who ask for an unknown file
   * share one reading of it, which has the time of the one who has most; `timeLeft` is in milliseconds.
   * @throws {TargetError} `robots_denied` if the file disallows it or cannot be had; with the code that the request of the
   * page would have if the host cannot be reached, wants to be left alone or has no turn in time. It has been tried as
   * often as it is worth.
   * @throws the reason of the signal.
   */
  assertAllowed(url: URL, signal: AbortSignal, timeLeft: () => number): Promise<void>
}

export function createRobots({ userAgent, ...options }: RobotsOptions): Robots {
  const token = productToken(userAgent)
  const policies = createPolicyCache(options.clock)
  const readPolicy = createReadPolicy({ ...options, token })
  const read = shareWork<Policy>(async (origin, signal, timeLeft) => {
    const policy = await readPolicy(origin, signal, timeLeft)
    policies.set(origin, policy)
    return policy
  })

  return {
    async assertAllowed(url, signal, timeLeft) {
      if (url.pathname + url.search === '/robots.txt') return // RFC 9309 §2.2.2
      const policy = policies.get(url.origin) ?? (await read(url.origin, signal, timeLeft))
      if ('lack' in policy) {
        const message = `The robots.txt of ${url.host} could not be had. ${policy.lack}`
        throw new TargetError('robots_denied', message, { hint: LACK_HINT })
      }
      if (!(await isAllowed(policy.rules, url, signal))) {
        throw new TargetError(
          'robots_denied',
          `The robots.txt of ${url.host} does not allow ${token} to fetch this URL.`,
        )
      }
    },
  }
}
