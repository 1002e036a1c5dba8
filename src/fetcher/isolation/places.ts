import { raceAbort } from '../../race-abort.ts'

/** A number of places to work at; who finds none waits, the first to come first. */
export interface Places {
  /** Rejects with the signal's reason if it aborts first; there is then nothing to give back. */
  take(signal: AbortSignal): Promise<void>
  giveBack(): void
}

export function createPlaces(count: number): Places {
  const waiting: (() => void)[] = []
  let free = count
  const giveBack = () => {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
  return {
    giveBack,
    async take(signal) {
      if (free > 0) {
        free -= 1
        return
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      try {
        await raceAbort(promise, signal)
      } catch (error) {
        const at = waiting.indexOf(resolve)
        if (at === -1) giveBack() // The place came in the same turn as the abort.
        else waiting.splice(at, 1)
        throw error
      }
    },
  }
}
