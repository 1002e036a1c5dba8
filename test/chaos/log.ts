import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** What a caller asked for and what came of it. Times are milliseconds since the Unix epoch. */
export interface Exchange {
  readonly kind: 'exchange'
  readonly caller: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** The body that was sent. */
  readonly sent?: string
  readonly sentAt: number
  /** When the answer was complete, or it was clear that it never would be. */
  readonly at: number
  /** Absent if there was no answer at all. */
  readonly status?: number
  /** The body of the answer, as far as it came. */
  readonly answer?: string
  /** Why the answer is not whole: `left` if the caller went away itself. */
  readonly broken?: string
}

/** What happened to the process of the service. `up`: it answers. */
export interface ProcessEvent {
  readonly kind: 'process'
  readonly at: number
  readonly event: 'start' | 'up' | 'kill' | 'term' | 'exit'
  /** Which process it is, from 1. */
  readonly life: number
  /** Of an exit: the code, or the name of the signal that ended the process. */
  readonly code?: number | string | null
}

/** How a kind of target should end. */
export interface Expectation {
  readonly name: string
  /** Targets of this kind start with it. */
  readonly origin: string
  /** An error code, or `done`. */
  readonly outcome: string
  /** Requests that the lab may see for one target. */
  readonly requests: number
  /** Of a done target: `path` if it is the path and query of the URL; a text, or a regular expression. Absent if it may be anything. */
  readonly content?:
    | { readonly is: 'path' }
    | { readonly text: string }
    | { readonly pattern: string; readonly flags: string }
}

/** What the run was set to. The first line of a log. */
export interface Settings {
  readonly kind: 'settings'
  readonly at: number
  readonly seed: number
  /** Milliseconds. */
  readonly leaseMs: number
  readonly targetTimeoutMs: number
  /** Milliseconds from a SIGTERM to the exit at most. */
  readonly stopMsMax: number
  readonly targetsPerJobMax: number
  readonly jobsPerCallerMax: number
  readonly jobsTotalMax: number
  readonly expectations: readonly Expectation[]
}

/** A job as it stands in the file after the last process has ended. */
export interface StoredJob {
  readonly kind: 'stored'
  readonly id: string
  readonly caller: string
  readonly status: string
  readonly targetsDone: number
  readonly targetsFailed: number
  readonly expiresAt: number
  readonly urls: readonly string[]
  /** The outcome of each target as text, null if it has none. */
  readonly outcomes: readonly (string | null)[]
}

export type Entry =
  | Settings
  | Exchange
  | ProcessEvent
  | StoredJob
  /** Somebody connected to a place that must not be reached. */
  | { readonly kind: 'touch'; readonly at: number; readonly place: string }
  /** Both clocks of the machine: that of the day, and the one that nobody can set. */
  | { readonly kind: 'tick'; readonly at: number; readonly monotonicMs: number }
  /** What SQLite says of the file. */
  | { readonly kind: 'integrity'; readonly verdict: string }

/** One line of the lab: a request came in, or ended. */
export interface Hit {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  readonly behaviour: string
  /** Path and query. */
  readonly path: string
  readonly event: 'request' | 'end'
}

export interface Log {
  write(entry: Entry): void
  close(): Promise<void>
}

/** Opens a log that only grows: an entry a line, in JSON. */
export function openLog(file: string): Log {
  const stream = createWriteStream(file, { flags: 'ax' })
  return {
    write: (entry) => void stream.write(`${JSON.stringify(entry)}\n`),
    async close() {
      stream.end()
      await once(stream, 'close')
    },
  }
}

/** The entries of a log, a line each. What is no JSON ends it with an error. */
export async function* readLog<T>(file: string): AsyncGenerator<T> {
  for await (const line of createInterface({ input: createReadStream(file) })) yield JSON.parse(line) as T
}
