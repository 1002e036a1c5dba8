import { raceAbort } from '../../race-abort.ts'

interface Shared<T> {
  readonly result: Promise<T>
  readonly end: AbortController
  askers: number
}

/**
 * Does work once for all who ask for the same key while it is done. One who aborts leaves; when nobody is left, the
 * work is aborted.
 */
export function shareWork<T>(work: (key: string, signal: AbortSignal) => Promise<T>) {
  const running = new Map<string, Shared<T>>()

  function start(key: string): Shared<T> {
    const end = new AbortController()
    const shared = { result: work(key, end.signal), end, askers: 0 }
    running.set(key, shared)
    return shared
  }

  return async (key: string, signal: AbortSignal): Promise<T> => {
    const shared = running.get(key) ?? start(key)
    shared.askers += 1
    try {
      return await raceAbort(shared.result, signal)
    } finally {
      shared.askers -= 1
      if (shared.askers === 0) {
        running.delete(key)
        shared.end.abort()
      }
    }
  }
}
