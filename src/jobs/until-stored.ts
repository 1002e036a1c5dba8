import type { Clock } from '../clock.ts'

/** Between two tries of what the store does not do, such as one on a full disk. */
const RETRY_MS = 1_000

export interface UntilStoredOptions {
  readonly clock: Clock
  /** Aborts when the store may not be asked again. */
  readonly signal: AbortSignal
  /** Told of the first refusal and not of those after it, so that they do not fill the log. */
  readonly onRefused: (error: unknown) => void
}

/**
 * Asks something of the store, again every second until the store does it.
 * @throws if the signal aborts before the store has done it.
 */
export async function untilStored<T>(
  ask: () => Promise<T>,
  { clock, signal, onRefused }: UntilStoredOptions,
): Promise<T> {
  for (let refusals = 0; ; refusals += 1) {
    try {
      return await ask()
    } catch (error) {
      if (refusals === 0) onRefused(error)
    }
    await clock.delay(RETRY_MS, signal)
  }
}
