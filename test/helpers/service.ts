import { pino } from 'pino'

import type { Clock } from '../../src/clock.ts'
import { checkProgram } from '../../src/fetcher/filter/check-program.ts'
import { type Access, buildApp } from '../../src/http/app.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { announcing, createJobChanges } from '../../src/jobs/changes.ts'
import type { CheckPrograms } from '../../src/jobs/check-programs.ts'
import type { FetchTarget } from '../../src/jobs/fetch-target.ts'
import { type JobLimits, withDefaults } from '../../src/jobs/limits.ts'
import { observing } from '../../src/jobs/observer.ts'
import { createRunner } from '../../src/jobs/runner.ts'
import type { JobView, Submission } from '../../src/jobs/schema.ts'
import { createJobService } from '../../src/jobs/service.ts'
import type { JobStore } from '../../src/jobs/store.ts'
import { startWebhookDeliverer, type WebhookDelivererOptions } from '../../src/jobs/webhook-deliverer.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { fakeClock } from './fake-clock.ts'
import { fakeFetch } from './fake-fetch.ts'

export const TARGET_TIMEOUT_MS = 60_000

interface BuildOptions extends Partial<JobLimits> {
  readonly file?: string
  /** Stands between the runner and the store, for faults. */
  readonly wrapStore?: (store: JobStore) => JobStore
  readonly access?: Partial<Access>
  readonly docs?: boolean
  /** What the log is written to, from the level `trace` on. Nothing is logged without it. */
  readonly log?: { write(line: string): void }
  readonly webhooks?: WebhookParts
}

/** The whole service, real but for time and the fetch. `await using` closes it. */
export async function buildService(options: BuildOptions = {}) {
  const { file = ':memory:', wrapStore = (store) => store, access, docs = false, log, webhooks, ...caps } = options
  const clock = fakeClock()
  const fetch = fakeFetch()
  const store = wrapStore(openSqliteStore(file))
  const service = await assemble({
    store,
    clock,
    fetchTarget: fetch.fetchTarget,
    checkPrograms: (programs) => Promise.all(programs.map(checkProgram)),
    limits: withDefaults(caps),
    docs,
    ...(access && { access }),
    ...(log && { log }),
    ...(webhooks && { webhooks }),
  })
  return {
    ...service,
    clock,
    fetch,
    async [Symbol.asyncDispose]() {
      service.jobs.stop() // Ends what follows.
      const stopped = service.runner.close(0)
      clock.advance(0) // Ends the grace.
      await stopped
      await service.app.close()
      await service.webhooks?.close()
      await store.close()
    },
  }
}

/** A service takes webhooks if it is given these. */
type WebhookParts = Pick<WebhookDelivererOptions, 'deliver' | 'secrets' | 'random'> & {
  readonly publicUrl?: string
}

interface Parts {
  /** Milliseconds of a target in all. */
  readonly targetTimeoutMs?: number
  readonly store: JobStore
  readonly clock: Clock
  readonly fetchTarget: FetchTarget
  readonly checkPrograms: CheckPrograms
  readonly limits: JobLimits
  readonly access?: Partial<Access>
  readonly docs?: boolean
  readonly log?: { write(line: string): void }
  readonly webhooks?: WebhookParts
}

/** Runner, service and app on what is given, with short ways to send requests to them. */
export async function assemble(parts: Parts) {
  const {
    store: database,
    clock,
    fetchTarget,
    checkPrograms: check,
    limits,
    access,
    docs = false,
    log,
    webhooks: hooks,
    targetTimeoutMs = TARGET_TIMEOUT_MS,
  } = parts
  const logger = log ? pino({ level: 'trace' }, log) : pino({ level: 'silent' })
  const { leaseMs, targetsPerJobMax } = limits
  const changes = createJobChanges()
  const metrics = createMetrics({ process: false })
  const store = observing(announcing(database, changes), metrics.jobs)
  const runner = createRunner({
    store,
    fetchTarget,
    clock,
    logger,
    targetTimeoutMs,
    leaseMs,
    onDrained: changes.announce,
    onOutcome: metrics.jobs.targetFinished,
  })
  const takesWebhooks = hooks !== undefined
  const jobs = createJobService({ store, changes, runner, checkPrograms: check, clock, limits, takesWebhooks })
  const webhooks =
    hooks && startWebhookDeliverer({ publicUrl: undefined, ...hooks, store, changes, runner, clock, logger })
  const app = await buildApp({
    jobs,
    clock,
    logger,
    targetsPerJobMax,
    targetTimeoutMs,
    metrics,
    storeBytes: store.size,
    docs,
    ...(access && { access }),
  })

  const send = async (method: 'GET' | 'POST' | 'DELETE', url: string, caller: string, payload?: object) => {
    const response = await app.inject({
      method,
      url,
      headers: { 'x-caller-id': caller, 'x-request-id': 'test' },
      ...(payload && { payload }),
    })
    return { status: response.statusCode, headers: response.headers, body: response.json<Answer>() }
  }

  return {
    app,
    changes,
    jobs,
    limits,
    runner,
    store,
    webhooks,
    submit: (names: readonly string[] | Submission, caller = 'alice') =>
      send('POST', '/jobs', caller, 'targets' in names ? names : { targets: targets(...names) }),
    get: (id: string, caller = 'alice') => send('GET', `/jobs/${id}`, caller),
    list: (query = '', caller = 'alice') => send('GET', `/jobs${query}`, caller),
    cancel: (id: string, caller = 'alice') => send('DELETE', `/jobs/${id}`, caller),
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
