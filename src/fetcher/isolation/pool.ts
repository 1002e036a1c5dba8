import { raceAbort } from '../../race-abort.ts'
import type { Conversion, SourceDocument } from '../convert/document.ts'
import { type ConversionChild, startChild } from './child-process.ts'
import { convertIn } from './convert-in.ts'
import { createPlaces } from './places.ts'

const MEGABYTE = 1024 * 1024
/** Milliseconds that a child beyond the first is kept without work. */
const IDLE_MS_MAX = 30_000
/** A child that has grown to this share of its memory is replaced, so that the next document has room. */
const RSS_SHARE_MAX = 0.6

export interface ConverterOptions {
  /** Conversions that run at the same time; others wait. Default 2. */
  readonly workersMax?: number
  /** Milliseconds of one conversion, from when its child is up. Default 20,000. */
  readonly timeMsMax?: number
  /** Resident bytes of one child, about 100 MB of which it needs for itself. Default 512 MiB. */
  readonly memoryBytesMax?: number
}

/** Converts documents in child processes, so that a hostile one costs no more than its own target. */
export interface Converter {
  /**
   * A conversion that takes too long is a failure `timeout`; one that takes too much memory, or crashes, `bad_document`.
   * Rejects with the signal's reason when it aborts; otherwise only for a bug, or after `close`.
   */
  convert(source: SourceDocument, signal: AbortSignal): Promise<Conversion>
  /** Ends every child; what runs or waits is rejected. Resolves once the processes are gone. */
  close(): Promise<void>
}

/** Starts no child before the first document; from then on one is kept ready. */
export function createConverter({
  workersMax = 2,
  timeMsMax = 20_000,
  memoryBytesMax = 512 * MEGABYTE,
}: ConverterOptions = {}): Converter {
  const places = createPlaces(workersMax)
  const closing = new AbortController()
  const alive = new Set<ConversionChild>()
  /** Those of `alive` that have nothing to do. */
  const idle: ConversionChild[] = []
  const dying = new Set<Promise<void>>()
  let reaper: NodeJS.Timeout | undefined

  const start = (): ConversionChild => {
    const child = startChild(memoryBytesMax)
    alive.add(child)
    return child
  }
  const end = (child: ConversionChild) => {
    if (!alive.delete(child)) return
    const gone = child
      .kill()
      .catch(() => undefined) // It is dead already.
      .finally(() => dying.delete(gone))
    dying.add(gone)
  }
  const keep = (child: ConversionChild) => {
    idle.push(child)
    reaper ??= setTimeout(() => {
      reaper = undefined
      for (const spare of idle.splice(1)) end(spare)
    }, IDLE_MS_MAX).unref()
  }
  /** Ends a child. The next document need not wait for its successor to start. */
  const replace = (child: ConversionChild) => {
    end(child)
    if (idle.length === 0 && !closing.signal.aborted) keep(start())
  }

  /** A child that answers: one that is idle, unless it has died meanwhile, or a new one. */
  const take = async (signal: AbortSignal): Promise<ConversionChild> => {
    for (let found = idle.pop(); ; found = idle.pop()) {
      const child = found ?? start()
      const isUp = await raceAbort(child.isUp(), signal).catch((error: unknown) => {
        end(child)
        throw error
      })
      if (isUp) return child
      end(child)
      if (found === undefined) throw new Error('A conversion process did not start.')
    }
  }

  const run = async (source: SourceDocument, signal: AbortSignal): Promise<Conversion> => {
    const child = await take(signal)
    const ended = await raceAbort(convertIn(child, source, timeMsMax), signal).catch((error: unknown) => {
      replace(child)
      throw error
    })
    if (ended.lost || ended.rssBytes > memoryBytesMax * RSS_SHARE_MAX) replace(child)
    else keep(child)
    if ('fault' in ended) throw new Error(`A conversion threw: ${ended.fault}`)
    return ended.conversion
  }

  return {
    async convert(source, signal) {
      const stop = AbortSignal.any([signal, closing.signal])
      stop.throwIfAborted()
      await places.take(stop)
      try {
        return await run(source, stop)
      } finally {
        places.giveBack()
      }
    },
    async close() {
      closing.abort(new Error('The converter is closed.'))
      clearTimeout(reaper)
      for (const child of alive) end(child)
      await Promise.all(dying)
    },
  }
}
