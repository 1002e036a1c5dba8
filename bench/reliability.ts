// A real service over 500 jobs of 8 callers, with targets of many kinds: what it answers and stores per second, how long
// its event loop is held up, what it has in memory and which files are open, looked at each second; and what it uses
// afterwards, when it has nothing to do. Prints a table and draws docs/reliability.svg. Needs Linux.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'

import type { JobView } from '../src/jobs/schema.ts'
import { childrenOf, openFiles, processorMs, residentBytes, tcpSockets } from '../test/helpers/process-state.ts'
import { startService } from '../test/helpers/process.ts'
import { serve } from '../test/helpers/raw-server.ts'
import { MIXED_TARGETS } from './lib/mixed-targets.ts'
import { type Point, plot } from './lib/plot.ts'

const DRAWN_JOBS = 500
/** `BENCH_JOBS` makes it another number, which is not drawn. */
const JOBS = Number(process.env.BENCH_JOBS ?? DRAWN_JOBS)
const CALLERS = 8
/** How often a job asks for each path. */
const ROUNDS = 3
const SAMPLE_MS = 1_000
/** Samples that a rate is the mean of. */
const RATE_SAMPLES = 5
const POLL_MS = 100
/** In which connections, those of clients after 72 s at the latest, and spare children are let go. */
const SETTLE_S = 80
/** In which the processor time of a service without work is measured. */
const IDLE_S = 30
const MEGABYTE = 1024 * 1024
/** Each job asks for these, with the outcomes that they must have. */
const TARGETS = Array.from({ length: ROUNDS }, () => Object.entries(MIXED_TARGETS)).flat()

/** What each URL gave first, and must give again. */
const contents = new Map<string, string | undefined>()

/** What callers had got by then, and how long the event loop was held up since the last look. */
interface Counted {
  readonly at: number
  readonly outcomes: number
  readonly requests: number
  readonly delayMs: number
}
/** What the service and its children held. Sizes are in MB. */
interface Held {
  readonly at: number
  readonly service: number
  readonly children: number
  /** Milliseconds that those alive have had so far. */
  readonly processorMs: number
  /** Open descriptors of the service. */
  readonly files: number
  /** Its connections from clients, and to the servers of targets. */
  readonly clients: number
  readonly servers: number
}

mkdirSync('data', { recursive: true })
const folder = mkdtempSync(path.join(process.cwd(), 'data', 'bench-'))
await using servers = new AsyncDisposableStack()
/** One for each caller, since a host is asked by one job at a time. */
const origins: string[] = []
for (let caller = 0; caller < CALLERS; caller++) {
  const server = createServer(({ url = '' }, response) => MIXED_TARGETS[url.slice(1)]?.answer(response))
  origins.push(servers.use(await serve(server, { host: `127.0.0.${2 + caller}` })).origin)
}
const service = await startService({
  DATABASE_URL: `file:${folder}/bench.db`,
  PAGEHAUL_JOBS_TOTAL: String(CALLERS),
})
const pid = service.child.pid ?? 0
const port = Number(new URL(service.origin).port)
try {
  await count(0) // The start held up the event loop; that is not looked at.
  const startedAt = performance.now()
  const now = () => (performance.now() - startedAt) / 1_000
  const counted = [await count(now())]
  const held = [hold(now())]
  let jobsLeft = JOBS
  const working = origins.map(async (origin, caller) => {
    while (jobsLeft-- > 0) await runJob(origin, `caller-${caller}`)
  })
  const drained = Promise.all(working).then(() => true)
  while (!(await Promise.race([drained, setTimeout(SAMPLE_MS, false)]))) {
    counted.push(await count(now()))
    held.push(hold(now()))
  }
  counted.push(await count(now()))
  const endedAt = now()
  await holdFor(SETTLE_S)
  await holdFor(IDLE_S)
  report(counted, held, endedAt)
  if (JOBS === DRAWN_JOBS) writeFileSync('docs/reliability.svg', draw(counted, held, endedAt))

  /** Asks the service for nothing meanwhile. */
  async function holdFor(seconds: number): Promise<void> {
    for (const end = now() + seconds; now() < end; held.push(hold(now()))) await setTimeout(SAMPLE_MS)
  }
} finally {
  await service.stop('SIGTERM')
  rmSync(folder, { recursive: true })
}

/** Submits a job, polls its summary until it has ended, and reads the whole. */
async function runJob(origin: string, caller: string): Promise<void> {
  const targets = TARGETS.map(([name, { options = {} }]) => ({ url: `${origin}/${name}`, options }))
  const { status, body } = await service.submit({ targets, reuse: false }, caller)
  if (status !== 202) throw new Error(`A submission was answered with ${status}.`)
  for (let isLive = true; isLive;) {
    await setTimeout(POLL_MS)
    const headers = { 'x-caller-id': caller }
    const answer = await fetch(`${service.origin}/jobs/${body.id}?view=summary`, { headers })
    isLive = ((await answer.json()) as JobView).finished_at === undefined
  }
  const job = await service.get(body.id, caller)
  for (const [idx, [name, { ends }]] of TARGETS.entries()) {
    const { url = '', status: state, error, result } = job.targets[idx] ?? {}
    if ((error ?? state) !== ends) throw new Error(`The target ${name} ended as ${error ?? state}.`)
    const content = contents.get(url) ?? result?.content
    if (result?.content !== content) throw new Error(`The target ${name} has another content than before.`)
    contents.set(url, content)
  }
}

async function count(at: number): Promise<Counted> {
  const metrics = await (await fetch(`${service.origin}/metrics`)).text()
  const sum = (name: string) =>
    [...metrics.matchAll(new RegExp(`^${name}(?:{.*})? (.+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    )
  return {
    at,
    outcomes: sum('pagehaul_targets_total'),
    requests: sum('pagehaul_http_requests_total'),
    delayMs: sum('nodejs_eventloop_lag_p99_seconds') * 1_000,
  }
}

function hold(at: number): Held {
  const connections = tcpSockets(pid).filter(({ isListening }) => !isListening)
  const children = childrenOf(pid)
  return {
    at,
    service: residentBytes(pid) / MEGABYTE,
    children: children.reduce((sum, child) => sum + residentBytes(child), 0) / MEGABYTE,
    processorMs: [pid, ...children].reduce((sum, id) => sum + processorMs(id), 0),
    files: openFiles(pid).length,
    clients: connections.filter(({ localPort }) => localPort === port).length,
    servers: connections.filter(({ localPort }) => localPort !== port).length,
  }
}

function report(counted: readonly Counted[], held: readonly Held[], endedAt: number): void {
  const [first, last] = [counted[0], counted.at(-1)]
  const [before, idle] = [held[0], held.at(-1)]
  if (!first || !last || !before || !idle) throw new Error('There are samples of each kind.')
  const rate = (of: 'outcomes' | 'requests') => round((last[of] - first[of]) / (last.at - first.at))
  const delays = counted.slice(1).map(({ delayMs }) => delayMs)
  const idling = processorShares(held.filter(({ at }) => at > idle.at - IDLE_S)).map(([, share]) => share)
  console.log(`${JOBS} jobs, ${last.outcomes} outcomes in ${Math.round(endedAt)} s: `)
  console.table({
    'outcomes/s': { value: rate('outcomes') },
    'requests/s': { value: rate('requests') },
    'event-loop delay ms, p99 of a second, median': { value: round(median(delays)) },
    'event-loop delay ms, p99 of a second, largest': { value: round(Math.max(...delays)) },
    'idle: processor, % of a core, mean of 30 s': { value: round(mean(idling)) },
    'idle: processor, % of a core, median second': { value: round(median(idling)) },
  })
  const during = held.filter(({ at }) => at > 0 && at <= endedAt)
  const parts = { before: [before], 'first fifth': fifth(during, 0), 'last fifth': fifth(during, 4), idle: [idle] }
  const row = (samples: readonly Held[]) => ({
    'service MB': round(mean(samples.map((sample) => sample.service))),
    'children MB': round(mean(samples.map((sample) => sample.children))),
    'open files': round(mean(samples.map((sample) => sample.files))),
    'from clients': round(mean(samples.map((sample) => sample.clients))),
    'to servers': round(mean(samples.map((sample) => sample.servers))),
  })
  console.table(Object.fromEntries(Object.entries(parts).map(([name, samples]) => [name, row(samples)])))
}

function draw(counted: readonly Counted[], held: readonly Held[], endedAt: number): string {
  const counts = (of: 'outcomes' | 'requests') => ({ name: of, points: rates(counted, of) })
  const states = (of: Exclude<keyof Held, 'at'>, name: string) => ({
    name,
    points: held.map((sample): Point => [sample.at, sample[of]]),
  })
  const delays = counted.slice(1).map(({ at, delayMs }): Point => [at, delayMs])
  return plot({
    title: `${JOBS} jobs of ${TARGETS.length} targets by ${CALLERS} callers, and the time after`,
    panels: [
      { title: `per second, mean of ${RATE_SAMPLES} s`, lines: [counts('outcomes'), counts('requests')] },
      { title: 'event-loop delay, p99 of each second, ms', lines: [{ name: 'delay', points: delays }] },
      { title: 'processor, % of a core, all processes', lines: [{ name: 'all', points: processorShares(held) }] },
      { title: 'resident memory, MB', lines: [states('service', 'service'), states('children', 'its children')] },
      {
        title: 'open files of the service',
        lines: [states('files', 'all'), states('clients', 'from clients'), states('servers', 'to servers')],
      },
    ],
    marks: [{ at: endedAt, name: 'last job' }],
  })
}

function rates(counted: readonly Counted[], of: 'outcomes' | 'requests'): Point[] {
  return counted.slice(RATE_SAMPLES).map((sample, index): Point => {
    const earlier = counted[index] ?? sample
    return [sample.at, (sample[of] - earlier[of]) / (sample.at - earlier.at)]
  })
}

/** Per second, in percent of one core. A child that ends takes its time along: nothing is counted for that second. */
function processorShares(held: readonly Held[]): Point[] {
  return held.slice(1).map((sample, index): Point => {
    const earlier = held[index] ?? sample
    const usedMs = sample.processorMs - earlier.processorMs
    return [sample.at, Math.max(0, usedMs / (sample.at - earlier.at) / 10)]
  })
}

function fifth<T>(items: readonly T[], index: number): readonly T[] {
  return items.slice((items.length * index) / 5, (items.length * (index + 1)) / 5)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
