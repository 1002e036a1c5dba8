import { after, type Clock } from './clock.ts'
import { raceAbort } from './race-abort.ts'

/** The work took longer than it may. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * Does work under a signal that aborts as `signal` does, and after `ms` milliseconds. Work that goes on after an abort is
 * not waited for. Whatever it rejects with then, the reason of the abort is thrown.
 * @param late makes the error for work that takes too long.
 * @throws {TimeLimitError} or what `late` makes.
 */
export async function withTimeLimit<T>(
  ms: number,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => Error = () => new TimeLimitError(`No end within ${ms} ms.`),
): Promise<T> {
  const limit = new AbortController()
  const callOff = after(ms, clock, () => limit.abort(late()))
  const limited = AbortSignal.any([signal, limit.signal])
  try {
    return await raceAbort(Promise.try(work, limited), limited)
  } catch (error) {
    signal.throwIfAborted()
    limit.signal.throwIfAborted()
    throw error
  } finally {
    callOff()
  }
}
