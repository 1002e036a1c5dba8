import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

import { startService } from '../helpers/process.ts'
import type { Random } from '../helpers/random.ts'
import { DATABASE } from './check.ts'
import { type Client, createClient } from './client.ts'
import { servePages } from './pages.ts'
import { traced } from './trace.ts'

/** What a client does with its job. One that is left hangs until the service ends. */
type Habit = 'reads it to the end' | 'cancels it' | 'leaves it'

const CALLERS: Readonly<Record<string, Habit>> = {
  ann: 'reads it to the end',
  bob: 'reads it to the end',
  cyd: 'reads it to the end',
  dov: 'reads it to the end',
  eve: 'cancels it',
  fay: 'leaves it',
}
/** Bytes of the texts that are fetched, by one job after the other; 0 stands for a page that is not found. */
const SIZES = [
  200, 3_000, 40_000, 1_200_000, 0, 900, 12_000, 700, 100, 5_000, 0, 7_000, 300, 1_800, 9_000, 2_000, 250_000, 400, 600,
  0, 16_000, 5_000, 1_000, 80, 4_000, 30_000, 700,
]
const TARGETS_PER_JOB = 12
/** The target that a job hangs in, if it has to hang. */
const HELD_IDX = 4
/** Each caller fetches from a host of its own, as one host is asked for one page at a time: 127.0.0.10 and so on. */
const FIRST_HOST = 10
/** Between which counts of outcomes a sudden end comes. */
const SUDDEN_OUTCOMES = [10, 50] as const

interface Life {
  readonly leaseS: number
  readonly end: 'SIGKILL' | 'SIGTERM'
  /** Whether it ends while jobs drain, not after them. */
  readonly isSudden?: boolean
}

/**
 * The jobs of the first life expire, so that the second one purges them. A kill leaves a log that the next life takes
 * up; a stop leaves none.
 */
const LIVES: readonly Life[] = [
  { leaseS: 2, end: 'SIGKILL' },
  { leaseS: 86_400, end: 'SIGKILL', isSudden: true },
  { leaseS: 86_400, end: 'SIGTERM' },
  { leaseS: 86_400, end: 'SIGKILL', isSudden: true },
]

/** A folder with what the lives of the service on one database did, one after the other. */
export interface Recording {
  /** The database's, where the service had it. */
  readonly folder: string
  readonly lives: readonly {
    readonly trace: string
    /** A copy of the folder as it was when the process had ended. */
    readonly left: string
  }[]
  /** File with the URLs of the targets whose outcome clients were sent, as JSON. */
  readonly seen: string
}

/** What `record` writes into `folder`. */
export function recordingIn(folder: string): Recording {
  return {
    folder: path.join(folder, 'data'),
    lives: LIVES.map((_, index) => ({
      trace: path.join(folder, `${index}.trace`),
      left: path.join(folder, `${index}.left`),
    })),
    seen: path.join(folder, 'seen.json'),
  }
}

/** Runs the service under strace with several clients, who cancel, wait for their jobs and are cut off. */
export async function record(recording: Recording, random: Random): Promise<void> {
  const seen: string[] = []
  mkdirSync(recording.folder)
  for (const [index, { trace, left }] of recording.lives.entries()) {
    await live({ life: at(LIVES, index), index, trace, database: path.join(recording.folder, DATABASE), seen, random })
    cpSync(recording.folder, left, { recursive: true })
  }
  writeFileSync(recording.seen, JSON.stringify(seen))
}

interface Stage {
  readonly life: Life
  /** Position of the life among all. */
  readonly index: number
  readonly trace: string
  readonly database: string
  readonly seen: string[]
  readonly random: Random
}

async function live({ life, index, trace, database, seen, random }: Stage): Promise<void> {
  await using open = new AsyncDisposableStack()
  const env = {
    DATABASE_URL: `file:${database}`,
    PAGEHAUL_JOB_TTL_S: String(life.leaseS),
    PAGEHAUL_TARGET_TIMEOUT_MS: '600000',
  }
  const service = await startService(env, traced(trace, [process.execPath, 'src/main.ts']))
  open.defer(() => void service.child.kill('SIGKILL')) // If something here throws.
  const recorded = once(service.child, 'close') // strace holds the output of the process until it has written all.
  const enough = Promise.withResolvers<void>()
  let left = life.isSudden ? random.whole(...SUDDEN_OUTCOMES) : Infinity
  const onOutcome = (url: string) => {
    seen.push(url)
    left -= 1
    if (left === 0) enough.resolve()
  }
  const pages = await Promise.all(Object.keys(CALLERS).map((_, number) => servePages(FIRST_HOST + number)))
  for (const host of pages) open.use(host)
  const clients = Object.entries(CALLERS).map(([caller, habit], number) => {
    const client = createClient(service.origin, caller, onOutcome)
    const { origin, release } = at(pages, number)
    const urls = Array.from({ length: TARGETS_PER_JOB }, (_, idx) => {
      const size = at(SIZES, (number * TARGETS_PER_JOB + idx) % SIZES.length)
      const page = isHeld(habit) && idx === HELD_IDX ? 'held' : size === 0 ? 'missing' : `text/${size}`
      return `${origin}/${index}/${caller}/${idx}/${page}`
    })
    return use(client, habit, urls, release)
  })
  await Promise.race([Promise.all(clients), enough.promise])
  if (life.end === 'SIGTERM') for (const host of pages) host.release() // A stop waits for the target in flight.
  await service.stop(life.end)
  await Promise.all([Promise.allSettled(clients), recorded])
}

/** What one client does in one life of the service. */
async function use(client: Client, habit: Habit, urls: readonly string[], release: () => void): Promise<void> {
  await client.readLatest()
  const id = await client.submit(urls.map((url) => ({ url })))
  if (!isHeld(habit)) return client.follow(id)
  await client.follow(id, { end: HELD_IDX })
  if (habit === 'leaves it') return
  await client.cancel(id)
  release()
  await client.follow(id, { from: HELD_IDX })
}

const isHeld = (habit: Habit) => habit !== 'reads it to the end'

function at<T>(list: readonly T[], index: number): T {
  const item = list[index]
  if (item === undefined) throw new RangeError(`There is no item ${index}.`)
  return item
}
