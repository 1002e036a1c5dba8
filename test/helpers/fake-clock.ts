import type { Clock } from '../../src/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time forward; every delay that falls due resolves, the earliest first. */
  advance(ms: number): void
  /** Delays that somebody waits for. */
  readonly waiting: number
}

/** Time that moves by hand. */
export function fakeClock(start = Date.parse('2026-01-01T00:00:00Z')): FakeClock {
  let now = start
  const delays = new Set<{ readonly at: number; readonly resolve: () => void }>()
  return {
    now: () => now,
    delay(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const entry = { at: now + ms, resolve }
      const abort = () => {
        delays.delete(entry)
        reject(signal?.reason)
      }
      if (signal?.aborted) abort()
      else delays.add(entry)
      signal?.addEventListener('abort', abort, { once: true })
      return promise
    },
    advance(ms) {
      now += ms
      const due = [...delays].filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at)
      for (const entry of due) {
        delays.delete(entry)
        entry.resolve()
      }
    },
    get waiting() {
      return delays.size
    },
  }
}
