import { setImmediate } from 'node:timers/promises'

/** Milliseconds that work keeps the event loop. */
const SLICE_MS = 5

/**
 * The items, as many in each turn of the event loop as can be worked on in a few milliseconds.
 * @throws the reason of the signal.
 */
export async function* inSlices<T>(items: Iterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  let end = performance.now() + SLICE_MS
  for (const item of items) {
    yield item
    if (performance.now() < end) continue
    await setImmediate()
    signal.throwIfAborted()
    end = performance.now() + SLICE_MS
  }
}
