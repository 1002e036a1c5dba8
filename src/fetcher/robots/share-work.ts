import { raceAbort } from '../../race-abort.ts'

interface Asker {
  /** Milliseconds that it has left for the work. */
  readonly timeLeft: () => number
}

interface Shared<T> {
  readonly result: Promise<T>
  readonly end: AbortController
  readonly askers: Set<Asker>
}

/** Gives the work as much time as whoever waits for it has most of. */
type Work<T> = (key: string, signal: AbortSignal, timeLeft: () => number) => Promise<T>

/**
 * Does work once for all who ask for the same key while it is done. One who aborts leaves; when nobody is left, the
 * work is aborted.
 */
export function shareWork<T>(work: Work<T>): Work<T> {
  const running = new Map<string, Shared<T>>()

  function start(key: string, first: Asker): Shared<T> {
    const end = new AbortController()
    const askers = new Set([first])
    const timeLeft = () => Math.max(...Array.from(askers, (asker) => asker.timeLeft()))
    // Those who ask in the same turn count from the start.
    const result = Promise.resolve().then(() => work(key, end.signal, timeLeft))
    const shared = { result, end, askers }
    running.set(key, shared)
    return shared
  }

  return async (key, signal, timeLeft) => {
    const asker: Asker = { timeLeft }
    const shared = running.get(key) ?? start(key, asker)
    shared.askers.add(asker)
    try {
      return await raceAbort(shared.result, signal)
    } finally {
      shared.askers.delete(asker)
      if (shared.askers.size === 0) {
        running.delete(key)
        shared.end.abort()
      }
    }
  }
}
