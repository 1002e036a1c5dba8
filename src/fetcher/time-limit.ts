import type { Clock } from '../clock.ts'

/** The work took longer than it may. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * Does work under a signal that aborts as `signal` does, and after `ms` milliseconds.
 * Whatever the work rejects with after an abort, the reason of that abort is thrown.
 * @throws {TimeLimitError}
 */
export async function withTimeLimit<T>(
  ms: number,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const end = new AbortController()
  clock.delay(ms, end.signal).then(
    () => limit.abort(new TimeLimitError(`No end within ${ms} ms.`)),
    () => undefined,
  )
  try {
    return await work(AbortSignal.any([signal, limit.signal]))
  } catch (error) {
    signal.throwIfAborted()
    limit.signal.throwIfAborted()
    throw error
  } finally {
    end.abort()
  }
}
