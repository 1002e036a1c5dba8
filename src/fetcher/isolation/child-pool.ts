import { raceAbort } from '../../race-abort.ts'
import { type TaskChild, startChild } from './child-process.ts'
import { createPlaces } from './places.ts'
import { type Lost, runIn } from './run-in.ts'
import type { TaskName, Tasks } from './tasks.ts'

const MEGABYTE = 1024 * 1024
/** Milliseconds that a child beyond the first is kept without work. */
const IDLE_MS_MAX = 30_000
/** A child that has grown to this share of its memory is replaced, so that the next task has room. */
const RSS_SHARE_MAX = 0.6

export interface ChildPoolOptions {
  /** Tasks that run at the same time; others wait. Default 2. */
  readonly workersMax?: number | undefined
  /** Resident bytes of one child, about 100 MB of which it needs for itself. Default 512 MiB. */
  readonly memoryBytesMax?: number | undefined
}

interface TaskLimits<Name extends TaskName> {
  /** Milliseconds, from when the child is up. */
  readonly timeMsMax: number
  readonly signal: AbortSignal
  readonly onPart?: (part: Tasks[Name]['part']) => void
}

/** Runs tasks in child processes, so that a hostile document or program costs no more than its own target. */
export interface ChildPool {
  /**
   * Gives the output, or how the child was lost on the way.
   * Rejects with the signal's reason when it aborts; otherwise only for a bug, or after `close`.
   */
  run<Name extends TaskName>(
    name: Name,
    input: Tasks[Name]['input'],
    limits: TaskLimits<Name>,
  ): Promise<{ readonly output: Tasks[Name]['output'] } | { readonly lost: Lost }>
  /** Ends every child; what runs or waits is rejected. Resolves once the processes are gone. */
  close(): Promise<void>
}

/** Starts no child before the first task; from then on one is kept ready. */
export function createChildPool({ workersMax = 2, memoryBytesMax = 512 * MEGABYTE }: ChildPoolOptions = {}): ChildPool {
  const places = createPlaces(workersMax)
  const closing = new AbortController()
  const alive = new Set<TaskChild>()
  /** Those of `alive` that have nothing to do. */
  const idle: TaskChild[] = []
  const dying = new Set<Promise<void>>()
  let reaper: NodeJS.Timeout | undefined

  const start = (): TaskChild => {
    const child = startChild(memoryBytesMax)
    alive.add(child)
    return child
  }
  const end = (child: TaskChild) => {
    if (!alive.delete(child)) return
    const gone = child
      .kill()
      .catch(() => undefined) // It is dead already.
      .finally(() => dying.delete(gone))
    dying.add(gone)
  }
  const keep = (child: TaskChild) => {
    idle.push(child)
    reaper ??= setTimeout(() => {
      reaper = undefined
      for (const spare of idle.splice(1)) end(spare)
    }, IDLE_MS_MAX).unref()
  }
  /** Ends a child. The next task need not wait for its successor to start. */
  const replace = (child: TaskChild) => {
    end(child)
    if (idle.length === 0 && !closing.signal.aborted) keep(start())
  }

  /** A child that answers: one that is idle, unless it has died meanwhile, or a new one. */
  const take = async (signal: AbortSignal): Promise<TaskChild> => {
    for (let found = idle.pop(); ; found = idle.pop()) {
      const child = found ?? start()
      const isUp = await raceAbort(child.isUp(), signal).catch((error: unknown) => {
        end(child)
        throw error
      })
      if (isUp) return child
      end(child)
      if (found === undefined) throw new Error('A child process did not start.')
    }
  }

  const run: ChildPool['run'] = async (name, input, { timeMsMax, signal, onPart }) => {
    const child = await take(signal)
    const ended = await raceAbort(runIn(child, name, input, timeMsMax, onPart), signal).catch((error: unknown) => {
      replace(child)
      throw error
    })
    if ('lost' in ended) {
      replace(child)
      return ended
    }
    const isSpent = 'fault' in ended || ended.spent || ended.rssBytes > memoryBytesMax * RSS_SHARE_MAX
    if (isSpent) replace(child)
    else keep(child)
    if ('fault' in ended) throw new Error(`The task ${name} threw: ${ended.fault}`)
    return { output: ended.output }
  }

  return {
    async run(name, input, limits) {
      const signal = AbortSignal.any([limits.signal, closing.signal])
      signal.throwIfAborted()
      await places.take(signal)
      try {
        return await run(name, input, { ...limits, signal })
      } finally {
        places.giveBack()
      }
    },
    async close() {
      closing.abort(new Error('The pool of child processes is closed.'))
      clearTimeout(reaper)
      for (const child of alive) end(child)
      await Promise.all(dying)
    },
  }
}
