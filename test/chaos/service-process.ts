import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

import type { Log, ProcessEvent } from './log.ts'

/** Milliseconds between two looks at whether a process answers. */
const LOOK_MS = 50
/** Milliseconds that the start of a process may take on a busy machine. */
const START_MS_MAX = 90_000
/** Milliseconds after which a process that does not stop is killed. */
const STOP_MS_MAX = 30_000

const ARGUMENTS = ['--import', './test/chaos/lab-names.ts', 'src/main.ts']

interface Life {
  readonly number: number
  readonly child: ChildProcess
  /** Milliseconds until it came to answer; undefined if it ended before. */
  readonly up: Promise<number | undefined>
  /** Whether it was sent a signal. */
  isStruck: boolean
}

export interface ServiceOptions {
  readonly origin: string
  readonly env: NodeJS.ProcessEnv
  /** Where its own log goes. */
  readonly output: string
  readonly log: Log
}

/** Keeps the service running: a process that ends is followed by the next one at once. */
export type ServiceProcess = ReturnType<typeof keepService>

/** Starts the first process. */
export function keepService({ origin, env, output, log }: ServiceOptions) {
  const file = openSync(output, 'a')
  let current: Life | undefined
  let lives = 0
  let ending = new AbortController()
  let kept: Promise<void> = Promise.resolve()

  const tell = (event: ProcessEvent['event'], life: number, code?: number | string | null) =>
    log.write({ kind: 'process', at: Date.now(), event, life, ...(code !== undefined && { code }) })

  async function keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const number = (lives += 1)
      tell('start', number)
      const child = spawn(process.execPath, ARGUMENTS, { env, stdio: ['ignore', file, file] })
      const exited = once(child, 'exit') as Promise<[number | null, string | null]>
      const up = answers(child, number)
      current = { number, child, up, isStruck: false }
      const [code, endedBy] = await exited
      tell('exit', number, code ?? endedBy)
      await up
    }
  }

  /** Milliseconds until the process came to answer; undefined if it ended before. */
  async function answers(child: ChildProcess, number: number): Promise<number | undefined> {
    const startedAt = performance.now()
    while (child.exitCode === null && child.signalCode === null) {
      const isUp = await fetch(`${origin}/livez`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isUp) {
        tell('up', number)
        return performance.now() - startedAt
      }
      await setTimeout(LOOK_MS)
    }
    return undefined
  }

  function start(): void {
    ending = new AbortController()
    kept = keep(ending.signal)
  }

  process.once('exit', () => current?.child.kill('SIGKILL'))
  start()
  return {
    start,
    /**
     * Resolves once a process answers that nobody has sent a signal yet, with the milliseconds that its start took.
     * @throws {Error} if none does for long.
     */
    async up(): Promise<number> {
      const until = performance.now() + STOP_MS_MAX + START_MS_MAX
      while (performance.now() < until) {
        const startMs = current?.isStruck === false ? await current.up : undefined
        if (startMs !== undefined) return startMs
        await setTimeout(LOOK_MS)
      }
      throw new Error(`The service does not start; its log is ${output}`)
    },
    /** Sends a signal to the process that runs now. */
    send(event: 'kill' | 'term'): void {
      if (current === undefined) return
      current.isStruck = true
      tell(event, current.number)
      current.child.kill(event === 'kill' ? 'SIGKILL' : 'SIGTERM')
    },
    /** Stops the service by SIGTERM, and starts no other process. */
    async end(): Promise<void> {
      await this.up()
      ending.abort()
      this.send('term')
      const stopped = new AbortController()
      setTimeout(STOP_MS_MAX, undefined, { signal: stopped.signal }).then(
        () => this.send('kill'),
        () => undefined, // It stopped in time.
      )
      await kept
      stopped.abort()
    },
  }
}
