import { pino } from 'pino'

import { buildApp } from '../../src/http/app.ts'
import { type JobLimits, withDefaults } from '../../src/jobs/limits.ts'
import { createRunner } from '../../src/jobs/runner.ts'
import type { JobView, Submission } from '../../src/jobs/schema.ts'
import { createJobService } from '../../src/jobs/service.ts'
import type { JobStore } from '../../src/jobs/store.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { fakeClock } from './fake-clock.ts'
import { fakeFetch } from './fake-fetch.ts'

export const TARGET_TIMEOUT_MS = 60_000

interface BuildOptions extends Partial<JobLimits> {
  readonly file?: string
  /** Stands between the runner and the store, for faults. */
  readonly wrapStore?: (store: JobStore) => JobStore
}

/** The whole service, real but for time and the fetch. `await using` closes it. */
export async function buildService({ file = ':memory:', wrapStore = (store) => store, ...caps }: BuildOptions = {}) {
  const clock = fakeClock()
  const fetch = fakeFetch()
  const logger = pino({ level: 'silent' })
  const limits = withDefaults(caps)
  const store = wrapStore(openSqliteStore(file))
  const runner = createRunner({
    store,
    fetchTarget: fetch.fetchTarget,
    clock,
    logger,
    targetTimeoutMs: TARGET_TIMEOUT_MS,
    leaseMs: limits.leaseMs,
  })
  const jobs = createJobService({ store, runner, clock, limits })
  const app = await buildApp({ jobs, logger, targetsPerJobMax: limits.targetsPerJobMax })

  const send = async (method: 'GET' | 'POST' | 'DELETE', url: string, caller: string, payload?: object) => {
    const response = await app.inject({ method, url, headers: { 'x-caller-id': caller }, ...(payload && { payload }) })
    return { status: response.statusCode, headers: response.headers, body: response.json<Answer>() }
  }

  return {
    app,
    clock,
    fetch,
    jobs,
    limits,
    runner,
    store,
    submit: (names: readonly string[] | Submission, caller = 'alice') =>
      send('POST', '/jobs', caller, 'targets' in names ? names : { targets: targets(...names) }),
    get: (id: string, caller = 'alice') => send('GET', `/jobs/${id}`, caller),
    list: (query = '', caller = 'alice') => send('GET', `/jobs${query}`, caller),
    cancel: (id: string, caller = 'alice') => send('DELETE', `/jobs/${id}`, caller),
    async [Symbol.asyncDispose]() {
      const stopped = runner.close(0)
      clock.advance(0) // Ends the grace.
      await stopped
      await app.close()
      await store.close()
    },
  }
}

/** A job or a problem: the tests look at what they expect. */
type Answer = JobView & {
  readonly code: string
  readonly detail: string
  readonly hint: string
  readonly limit: number
  readonly errors: { pointer: string; detail: string }[]
  readonly jobs: { id: string; status: string }[]
  readonly next?: string
}

export const targets = (...names: readonly string[]) => names.map((name) => ({ url: `https://${name}.example/` }))
export const numbered = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`)
