import { on, once } from 'node:events'
import { readFileSync } from 'node:fs'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createGuard } from '../../src/fetcher/network/guard.ts'
import type { JobView, TargetView } from '../../src/jobs/schema.ts'
import { isRetried, TargetError } from '../../src/jobs/target-error.ts'
import { serve } from '../helpers/serve.ts'
import { ALLOWED } from '../helpers/test-network.ts'
import { type WholeServiceOptions, wholeService } from '../helpers/whole-service.ts'
import type { Behaviour, Expected } from './behaviour.ts'
import { BEHAVIOURS, GROUPS } from './behaviours.ts'
import { LAB_RANGES, type Lab, startLab } from './lab.ts'
import { resolveAt } from './name-server.ts'

/** Targets of a job, for what ends by itself. */
const JOB_TARGETS = 6
/** Milliseconds of a target, for what only its deadline ends. */
const TARGET_MS = 5_000
/** Milliseconds for a connection, for what never opens one. */
const CONNECT_MS = 300
/** Milliseconds for a filter that never ends. */
const FILTER_MS = 1_000

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
      resolve: resolveAt(nameServer),
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

/** Submits behaviours as jobs of `size` targets; resolves with their outcomes once all jobs have ended. */
async function drain(service: Service, lab: Lab, behaviours: readonly Behaviour[], size: number) {
  const ids: string[] = []
  for (let first = 0; first < behaviours.length; first += size) {
    const targets = behaviours.slice(first, first + size).map((behaviour) => targetOf(lab, behaviour))
    const { status, body } = await service.submit({ targets }, 'alice')
    expect(status).toBe(202)
    ids.push(body.id)
  }
  await service.runner.idle()
  const jobs = await Promise.all(ids.map((id) => service.get(id)))
  return jobs.flatMap(({ body }) => body.targets)
}

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
function kindOf({ name, expected: { outcome }, robots }: Behaviour): 'late' | 'never' | 'filter' | 'robots' | 'other' {
  if (robots === 'obey') return 'robots'
  if (outcome === 'timeout') return 'late'
  if (outcome === 'connect_timeout' || name === 'name-silence') return 'never'
  return outcome === 'filter_timeout' ? 'filter' : 'other'
}

/** What is expected of the number of tries, unless the behaviour says so itself. */
const triesOf = ({ outcome, tries }: Expected) => tries ?? (outcome !== 'done' && isRetried(outcome) ? 3 : 1)

const triesIn = (message: string) => Number(/\(tried (\d) times\)\.$/.exec(message)?.[1] ?? 1)

describe('every behaviour of the lab has its outcome', () => {
  const outcomes = new Map<string, TargetView>()
  const others: JobView[] = []
  let lab: Lab

  beforeAll(async () => {
    lab = await startLab()
    await using pages = await serve({ '/': { type: 'text/plain', body: 'good' } })
    const keep = (found: readonly TargetView[]) => {
      for (const outcome of found) outcomes.set(outcome.custom_id ?? '', outcome)
    }
    const run = async (behaviours: readonly Behaviour[], differences: Differences) => {
      await using service = await serviceFor(lab, differences)
      keep(await drain(service, lab, behaviours, 1))
    }
    const { late = [], never = [], filter = [], robots = [], other = [] } = Object.groupBy(BEHAVIOURS, kindOf)
    await Promise.all([
      run(late, { targetTimeoutMs: TARGET_MS }),
      run(never, { connectMsMax: CONNECT_MS }),
      run(filter, { converter: { filterMsMax: FILTER_MS } }),
      run(robots, { robots: 'obey' }),
    ])
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

  it('and the jobs of another caller went on', () => {
    expect(others.length).toBeGreaterThan(0)
    for (const { targets } of others) expect(targets[0]).toMatchObject({ result: { content: 'good' } })
  })

  it('and nobody went where nobody may go', () => expect(lab.trespasses).toBe(0))
})

it('a caller whose servers all keep silent holds up no other', async () => {
  await using lab = await startLab()
  await using pages = await serve({ '/': { type: 'text/plain', body: 'good' } })
  await using service = await serviceFor(lab)
  const silent = BEHAVIOURS.filter(({ name }) => /silent|drip/.test(name) && name !== 'tls-silent')
  const asked = on(lab.hits, 'hit')
  const held = await Promise.all(silent.map((behaviour) => service.submit({ targets: [targetOf(lab, behaviour)] })))
  for (let left = silent.length; left > 0; left -= 1) await asked.next()

  for (let count = 0; count < 10; count += 1) {
    expect((await untilFinal(service, pages.origin)).targets[0]).toMatchObject({ result: { content: 'good' } })
  }
  const states = await Promise.all(held.map(({ body }) => service.get(body.id)))
  for (const { body } of states) expect(body).toMatchObject({ status: 'running', targets_done: 0 })
})
