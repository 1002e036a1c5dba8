import { randomInt } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'

import Database from 'better-sqlite3'
import { expect, it } from 'vitest'

import type { JobView, TargetView } from '../../src/jobs/schema.ts'
import { linesOf } from '../helpers/lines-of.ts'
import { type ServiceProcess, startService } from '../helpers/process.ts'
import { serve } from '../helpers/raw-server.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { expectedStatus } from '../helpers/witness.ts'

/** `npm run test:crash` makes it 100, or what it is told. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 5)
/** Services that are killed side by side, each on a database of its own: one starts while the other one drains. */
const LANES = Math.min(ROUNDS, 2)
/** A round is killed once clients have seen a random number of outcomes, at most so many, */
const OUTCOMES_MAX = 120
/** and a random while after that, at most so long. */
const WHILE_MS_MAX = 200
/** Jobs whose state is checked after every round; all are checked at the end. */
const RECENT = 16
const CALLERS = Array.from({ length: 8 }, (_, index) => `caller-${index}`)
/** Cancels its job once it has seen an outcome of it. */
const CANCELLER = 'caller-7'
const TARGETS_PER_JOB = 32

/** What clients were shown of a job. It must be there for good. */
interface Shown {
  readonly caller: string
  /** By index. */
  readonly outcomes: Map<number, TargetView>
  /** Once the job was shown to have ended, or its cancel was answered. */
  end: { readonly status: string; readonly finished_at: string | undefined } | undefined
}

it(
  `loses nothing that was acknowledged to kill -9 at random points, ${ROUNDS} rounds`,
  async () => {
    const lanes = Array.from({ length: LANES }, (_, lane) => expectToSurvive(Math.floor((ROUNDS + lane) / LANES)))
    await Promise.all(lanes)
  },
  ROUNDS * 20_000 + 60_000,
)

/** Starts the service on one database, `rounds` times, and kills it each time. */
async function expectToSurvive(rounds: number): Promise<void> {
  using temp = tempFolder()
  await using open = new AsyncDisposableStack()
  // A host for each caller, as one host is asked for one page at a time.
  const hosts = await Promise.all(CALLERS.map((_, index) => serveEcho(`127.0.0.${10 + index}`)))
  for (const host of hosts) open.use(host)
  const file = temp.file('jobs.db')
  const acknowledged = new Map<string, Shown>()
  let service: ServiceProcess | undefined
  open.defer(() => void service?.child.kill('SIGKILL')) // If it is not as expected.

  for (let round = 0; round < rounds; round++) {
    const started = await startService({ DATABASE_URL: `file:${file}` })
    service = started
    for (const [id, shown] of [...acknowledged].slice(-RECENT)) await expectAsShown(started, id, shown)
    // 8 jobs that died with the last process take no slot.
    const submitted = await Promise.all(
      CALLERS.map(async (caller, index) => {
        const targets = Array.from({ length: TARGETS_PER_JOB }, (_, idx) => ({
          url: `${hosts[index]?.origin}/${round}/${caller}/${idx}`,
        }))
        const { status, body } = await started.submit({ targets, reuse: false }, caller)
        expect(status).toBe(202)
        const shown: Shown = { caller, outcomes: new Map(), end: undefined }
        acknowledged.set(body.id, shown)
        return { id: body.id, shown }
      }),
    )
    const enough = Promise.withResolvers<void>()
    let left = round % 4 === 3 ? 0 : randomInt(1, OUTCOMES_MAX + 1) // Every fourth round may die before anything is stored.
    const onOutcome = () => {
      left -= 1
      if (left === 0) enough.resolve()
    }
    const watching = submitted.map(({ id, shown }) => watch(started, id, shown, onOutcome))
    const watched = Promise.allSettled(watching) // The process dies in the middle of them.
    if (left > 0) await Promise.race([enough.promise, watched])
    await setTimeout(Math.random() * WHILE_MS_MAX) // The fault itself, at a random moment; nothing waits for it to pass.
    await started.stop('SIGKILL')
    await watched
  }

  const last = await startService({ DATABASE_URL: `file:${file}` })
  service = last
  let outcomes = 0
  let failures = 0
  for (const [id, shown] of acknowledged) {
    const job = await expectAsShown(last, id, shown)
    const ended = job.targets.filter(({ status }) => status !== 'pending')
    const failed = ended.filter(({ status }) => status === 'failed')
    expect(job).toMatchObject({ targets_done: ended.length, targets_failed: failed.length })
    if (job.error !== undefined) expect(job).toMatchObject({ status: 'failed', error: 'restart' })
    else if (job.status !== 'cancelled')
      expect(job.status).toBe(expectedStatus(TARGETS_PER_JOB, ended.length, failed.length))
    // A target may fail on a machine without a core to spare; it has then no content that could be wrong.
    for (const { idx, url, result } of ended)
      if (result) expect(result.content, `${id} ${idx}`).toBe(new URL(url).pathname)
    outcomes += shown.outcomes.size
    failures += failed.length
  }
  expect(acknowledged.size).toBe(rounds * CALLERS.length)
  expect(outcomes).toBeGreaterThan(0)
  process.stdout.write(`${rounds} rounds: ${acknowledged.size} jobs, ${outcomes} outcomes shown, ${failures} failed\n`)
  expect(await last.stop('SIGTERM')).toBe(0)

  const db = new Database(file)
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(db.prepare('SELECT count(*) FROM job WHERE finished_at IS NULL').pluck().get()).toBe(0)
  db.close()
}

/** Answers each path with itself. */
function serveEcho(host: string) {
  const server = createServer(({ url }, response) => response.setHeader('content-type', 'text/plain').end(url))
  return serve(server, { host })
}

/** Takes down what the service shows of a job, outcome by outcome, until it is killed. */
async function watch(service: ServiceProcess, id: string, shown: Shown, onOutcome: () => void): Promise<void> {
  const { caller, outcomes } = shown
  const headers = { 'x-caller-id': caller }
  const { body } = await fetch(`${service.origin}/jobs/${id}/results?follow=true`, { headers })
  if (!body) return
  for await (const line of linesOf(body)) {
    const outcome = JSON.parse(line) as TargetView
    outcomes.set(outcome.idx, outcome)
    onOutcome()
    if (caller === CANCELLER && outcome.idx === 0) await cancel(service, id, shown)
  }
  shown.end = endOf(await service.get(id, caller))
}

async function cancel({ origin }: ServiceProcess, id: string, shown: Shown): Promise<void> {
  const init = { method: 'DELETE', headers: { 'x-caller-id': shown.caller } }
  const response = await fetch(`${origin}/jobs/${id}`, init)
  const answer = await response.text() // The process may die before its end.
  if (response.status === 200) shown.end = endOf(JSON.parse(answer) as JobView)
}

function endOf({ status, finished_at }: JobView): Shown['end'] {
  return { status, finished_at }
}

/** @returns the job, which has ended and holds all that was shown of it. */
async function expectAsShown(service: ServiceProcess, id: string, { caller, outcomes, end }: Shown): Promise<JobView> {
  const job = await service.get(id, caller)
  expect(job.status).not.toMatch(/queued|running/)
  expect(job).toMatchObject(end ?? {})
  for (const [idx, outcome] of outcomes) expect(job.targets[idx]).toEqual(outcome)
  return job
}
