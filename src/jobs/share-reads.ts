import type { JobChanges } from './changes.ts'
import type { JobSnapshot } from './store.ts'

/** @throws {AppError} `job_not_found` */
type ReadJob = (caller: string, id: string) => Promise<JobSnapshot>

/**
 * Reads jobs as `read` does, but all who read the same one in a turn of the event loop share a read, until a change is
 * announced. For those who asked for the next change before they read: what the shared snapshot lacks is announced
 * after that, and wakes them. Nothing is shared for longer than a turn, so that leases and purges are seen.
 */
export function shareReads(read: ReadJob, changes: Pick<JobChanges, 'announced'>): ReadJob {
  const shared = new Map<string, { readonly announced: number; readonly snapshot: Promise<JobSnapshot> }>()
  return (caller, id) => {
    const key = `${caller}\0${id}` // No caller has a null character.
    const announced = changes.announced()
    const known = shared.get(key)
    if (known?.announced === announced) return known.snapshot
    if (shared.size === 0) setImmediate(() => shared.clear())
    const snapshot = read(caller, id)
    shared.set(key, { announced, snapshot })
    return snapshot
  }
}
