import type { Clock } from '../../clock.ts'
import type { Rule } from './rules.ts'

/** Authorities that are remembered. */
const POLICIES_MAX = 500
/** Bytes of the files that are remembered, of all authorities together; as rules they take some ten times the space. */
const CACHED_BYTES_MAX = 4 * 1024 * 1024

/** What an authority lets programs do. */
export type Policy = {
  /** Milliseconds that it may be used by others than those who asked for it together. */
  readonly keepMs: number
} & (
  | { readonly rules: readonly Rule[]; readonly fileBytes: number }
  /** Nothing, since its robots.txt could not be had; `lack` is a sentence that says why. */
  | { readonly lack: string }
)

interface Entry {
  readonly policy: Policy
  /** Milliseconds since the Unix epoch. */
  readonly readAt: number
}

/** Policies by the origin of their authority. The one that was not asked for the longest is forgotten first. */
export interface PolicyCache {
  get(origin: string): Policy | undefined
  set(origin: string, policy: Policy): void
}

export function createPolicyCache(clock: Pick<Clock, 'now'>): PolicyCache {
  const entries = new Map<string, Entry>() // In the order of their last use.
  let fileBytes = 0

  function take(origin: string): Entry | undefined {
    const entry = entries.get(origin)
    if (entry === undefined) return undefined
    entries.delete(origin)
    fileBytes -= bytesOf(entry.policy)
    return entry
  }

  function put(origin: string, entry: Entry): void {
    entries.set(origin, entry)
    fileBytes += bytesOf(entry.policy)
  }

  return {
    get(origin) {
      const entry = take(origin)
      if (entry === undefined || !isFresh(entry, clock.now())) return undefined
      put(origin, entry)
      return entry.policy
    },
    set(origin, policy) {
      take(origin)
      put(origin, { policy, readAt: clock.now() })
      for (const oldest of entries.keys()) {
        if (entries.size <= POLICIES_MAX && fileBytes <= CACHED_BYTES_MAX) break
        take(oldest)
      }
    },
  }
}

const bytesOf = (policy: Policy): number => ('lack' in policy ? 0 : policy.fileBytes)

/** What seems to be from later, since the clock was set back, is not. */
function isFresh({ policy, readAt }: Entry, now: number): boolean {
  return now >= readAt && now - readAt < policy.keepMs
}
