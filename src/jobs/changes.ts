import type { JobStore } from './store.ts'

/** Tells those who wait for a job that it has changed. */
export interface JobChanges {
  /** Wakes everyone who waits for a change of the job, or of any. */
  announce(id: string): void
  /**
   * Resolves at the next change of the job, or when the signal aborts. Ask before reading the job, so that no change
   * falls between the two.
   * @param id undefined for whichever job changes.
   */
  next(id: string | undefined, signal: AbortSignal): Promise<void>
  /** How many wait for a change of the job. */
  waiters(id: string): number
  /** How many changes of any job have been announced. While that stays the same, nobody knows of a change. */
  announced(): number
}

export function createJobChanges(): JobChanges {
  const waiting = new Map<string | undefined, Set<() => void>>()
  let announced = 0
  return {
    announce(id) {
      announced += 1
      for (const key of [id, undefined]) for (const wake of waiting.get(key) ?? []) wake()
    },
    next(id, signal) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiters = waiting.get(id) ?? new Set()
      const wake = () => {
        signal.removeEventListener('abort', wake)
        waiters.delete(wake)
        if (waiters.size === 0) waiting.delete(id)
        resolve()
      }
      if (signal.aborted) resolve()
      else {
        waiting.set(id, waiters.add(wake))
        signal.addEventListener('abort', wake)
      }
      return promise
    },
    waiters: (id) => waiting.get(id)?.size ?? 0,
    announced: () => announced,
  }
}

/** The store, which now announces an outcome, a cancel and a failure once they are durable. */
export function announcing(store: JobStore, changes: JobChanges): JobStore {
  const after = async <T>(id: string, change: Promise<T>): Promise<T> => {
    const result = await change
    changes.announce(id)
    return result
  }
  return {
    ...store,
    recordOutcome: (id, ...outcome) => after(id, store.recordOutcome(id, ...outcome)),
    cancel: (id, ...by) => after(id, store.cancel(id, ...by)),
    fail: (id, at) => after(id, store.fail(id, at)),
  }
}
