import { on, once } from 'node:events'
import { readFileSync } from 'node:fs'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createGuard } from '../../src/fetcher/network/guard.ts'
import { createSystemResolve } from '../../src/fetcher/network/resolve.ts'
import type { JobView, TargetView } from '../../src/jobs/schema.ts'
import { TargetError } from '../../src/jobs/target-error.ts'
import { serve } from '../helpers/serve.ts'
import { ALLOWED } from '../helpers/test-network.ts'
import { type WholeServiceOptions, wholeService } from '../helpers/whole-service.ts'
import { type Behaviour, triesOf } from './behaviour.ts'
import { BEHAVIOURS, GROUPS } from './behaviours.ts'
import { LAB_RANGES, type Lab, startLab } from './lab.ts'

/** Targets of a job, for what ends by itself. */
const JOB_TARGETS = 6
/** Milliseconds of a target, for what only its deadline ends. */
const TARGET_MS = 5_000
/** Milliseconds for a connection, for what never opens one. */
const CONNECT_MS = 300
/** Milliseconds for a filter that never ends. */
const FILTER_MS = 1_000
/** Milliseconds beyond its deadline in which a target has ended, be the machine as busy as it is. */
const LATE_MS_MAX = 15_000
/** Milliseconds in which a page that comes at once is had, likewise. */
const PROMPT_MS_MAX = 30_000

/** How the service under test differs from one that is set as it is by default. */
interface Differences extends Pick<WholeServiceOptions, 'targetTimeoutMs' | 'converter' | 'robots'> {
  /** In milliseconds. */
  readonly connectMsMax?: number
}

/** The service under test, which may go to the lab, with names and authorities of the lab. */
const serviceFor = ({ archive, nameServer }: Lab, { connectMsMax, ...differences }: Differences = {}) =>
  wholeService({
    ...differences,
    archiveUrl: archive,
    isPublic: async () => true,
    network: {
      guard: createGuard({ allow: [...LAB_RANGES, ...ALLOWED], ports: '*' }),
      resolve: createSystemResolve({ servers: [nameServer] }),
      ca: readFileSync(new URL('../fixtures/tls/ca.pem', import.meta.url), 'utf8'),
      ...(connectMsMax && { connectMsMax }),
    },
  })
type Service = Awaited<ReturnType<typeof serviceFor>>

const targetOf = (lab: Lab, { name, options }: Behaviour) => ({
  url: lab.urls[name] ?? '',
  custom_id: name,
  ...(options && { options }),
})

/** Submits behaviours as jobs of `size` targets; resolves with the jobs once all have ended. */
async function drain(service: Service, lab: Lab, behaviours: readonly Behaviour[], size: number): Promise<JobView[]> {
  const ids: string[] = []
  for (let first = 0; first < behaviours.length; first += size) {
    const targets = behaviours.slice(first, first + size).map((behaviour) => targetOf(lab, behaviour))
    const { status, body } = await service.submit({ targets }, 'alice')
    expect(status).toBe(202)
    ids.push(body.id)
  }
  await service.runner.idle()
  const jobs = await Promise.all(ids.map((id) => service.get(id)))
  return jobs.map(({ body }) => body)
}

/** Milliseconds from the start of a job to its end. */
const msOf = ({ started_at: from, finished_at: to }: JobView) => Date.parse(to ?? '') - Date.parse(from ?? '')

/** Submits a good page as another caller whenever the lab sees something, until the work is done. */
async function meanwhile(service: Service, lab: Lab, url: string, work: Promise<unknown>): Promise<JobView[]> {
  const jobs: JobView[] = []
  const controller = new AbortController()
  const over = work.finally(() => controller.abort())
  while (!controller.signal.aborted) {
    jobs.push(await untilFinal(service, url))
    await Promise.race([once(lab.hits, 'hit'), over])
  }
  return jobs
}

/** The job of a second caller, once it has ended. */
async function untilFinal(service: Service, url: string): Promise<JobView> {
  const response = await service.app.inject({
    method: 'POST',
    url: '/jobs',
    headers: { 'x-caller-id': 'bob', prefer: 'wait=50' },
    payload: { targets: [{ url }], reuse: false },
  })
  return response.json<JobView>()
}

/** How the service has to be set for a behaviour, so that nobody waits longer than needed. */
function kindOf({ expected: { outcome }, robots }: Behaviour): 'late' | 'never' | 'filter' | 'robots' | 'other' {
  if (robots === 'obey') return 'robots'
  if (outcome === 'timeout') return 'late'
  if (outcome === 'connect_timeout') return 'never'
  return outcome === 'filter_timeout' ? 'filter' : 'other'
}

const triesIn = (message: string) => Number(/\(tried (\d) times\)\.$/.exec(message)?.[1] ?? 1)

describe('every behaviour of the lab has its outcome', () => {
  const outcomes = new Map<string, TargetView>()
  const others: JobView[] = []
  const late: JobView[] = []
  let lab: Lab

  beforeAll(async () => {
    lab = await startLab()
    await using pages = await serve({ '/': { type: 'text/plain', body: 'good' } })
    const keep = (jobs: readonly JobView[]) => {
      for (const outcome of jobs.flatMap(({ targets }) => targets)) outcomes.set(outcome.custom_id ?? '', outcome)
    }
    const run = async (behaviours: readonly Behaviour[] = [], differences: Differences = {}) => {
      await using service = await serviceFor(lab, differences)
      const jobs = await drain(service, lab, behaviours, 1)
      keep(jobs)
      return jobs
    }
    const { other = [], ...kinds } = Object.groupBy(BEHAVIOURS, kindOf)
    const [timedOut] = await Promise.all([
      run(kinds.late, { targetTimeoutMs: TARGET_MS }),
      run(kinds.never, { connectMsMax: CONNECT_MS }),
      run(kinds.filter, { converter: { filterMsMax: FILTER_MS } }),
      run(kinds.robots, { robots: 'obey' }),
    ])
    late.push(...timedOut)
    await using service = await serviceFor(lab)
    const work = drain(service, lab, other, JOB_TARGETS)
    others.push(...(await meanwhile(service, lab, pages.origin, work)))
    keep(await work)
  }, 180_000)
  afterAll(() => lab[Symbol.asyncDispose]())

  describe.each(Object.entries(GROUPS))('%s', (_group, behaviours: readonly Behaviour[]) => {
    it.each(behaviours)('$name', ({ name, expected }) => {
      const { error, message = '', hint, result } = outcomes.get(name) ?? {}
      expect(error ?? 'done', message).toBe(expected.outcome)
      expect(lab.requests(name)).toBe(expected.requests)
      if (expected.outcome === 'done') {
        const { content } = expected
        expect(result?.content).toEqual(content instanceof RegExp ? expect.stringMatching(content) : content)
        expect(result?.meta.attempts).toBe(triesOf(expected))
      } else {
        expect(hint).toBe(expected.hint ?? new TargetError(expected.outcome, '').hint)
        expect(triesIn(message)).toBe(triesOf(expected))
      }
    })
  })

  it('and what never ends was given up at its deadline', () => {
    expect(late.length).toBeGreaterThan(5)
    for (const job of late) expect(msOf(job), job.targets[0]?.custom_id).toBeLessThan(TARGET_MS + LATE_MS_MAX)
  })

  it('and the jobs of another caller went on', () => {
    expect(others.length).toBeGreaterThan(0)
    expectUnhindered(others)
  })

  it('and nobody went where nobody may go', () => expect(lab.trespasses).toBe(0))
})

/** All of them have their page, and had it soon. */
function expectUnhindered(jobs: readonly JobView[]): void {
  for (const job of jobs) {
    expect(job.targets[0]).toMatchObject({ result: { content: 'good' } })
    expect(msOf(job)).toBeLessThan(PROMPT_MS_MAX)
  }
}

it('a caller whose servers keep silent, drip or flood for ever holds up no other', async () => {
  await using lab = await startLab()
  await using pages = await serve({ '/': { type: 'text/plain', body: 'good' } })
  await using service = await serviceFor(lab)
  const endless = BEHAVIOURS.filter((behaviour) => kindOf(behaviour) === 'late')
  const asked = on(lab.hits, 'hit')
  const held = await Promise.all(endless.map((behaviour) => service.submit({ targets: [targetOf(lab, behaviour)] })))
  for (let left = endless.length; left > 0; left -= 1) await asked.next()

  const others: JobView[] = []
  for (let count = 0; count < 10; count += 1) others.push(await untilFinal(service, pages.origin))
  expectUnhindered(others)
  const states = await Promise.all(held.map(({ body }) => service.get(body.id)))
  for (const { body } of states) expect(body).toMatchObject({ status: 'running', targets_done: 0 })
})
