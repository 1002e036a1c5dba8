import { STATUS_CODES } from 'node:http'

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

import type { Outcome } from '../jobs/fetch-target.ts'
import type { JobObserver } from '../jobs/observer.ts'
import { isFinal, JOB_STATUSES, WEBHOOK_STATES } from '../jobs/states.ts'
import { TARGET_ERRORS } from '../jobs/target-error.ts'
import { VERSION } from '../version.ts'

/** Upper bounds in seconds. A request can wait 50 s; a stream stays open for as long as its job. */
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600]
const TASK_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]
const TARGET_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120]

interface FinishedRequest {
  readonly method: string
  /** The pattern of the route, undefined if there is none. Never the URL, which can hold anything. */
  readonly route: string | undefined
  /** What was sent; `aborted` if the connection ended before anything was. */
  readonly status: number | 'aborted'
  readonly durationMs: number
}

/** What the service counts. Nothing is labelled by URL, host or caller, so that the number of series is bounded. */
export interface Metrics {
  readonly jobs: JobObserver
  requestFinished(request: FinishedRequest): void
  /**
   * A task of a child process.
   * @param end `done`, or how the child was lost.
   */
  taskFinished(task: string, durationMs: number, end: string): void
  /** Media type of `scrape`. */
  readonly contentType: string
  /**
   * Every metric in the text format of Prometheus.
   * @param storeBytes size of the database now; undefined if it cannot be read, and then there is no sample of it.
   */
  scrape(storeBytes: number | undefined): Promise<string>
}

/** @param options.process whether to measure the process, too; that goes on as long as it lives, so only once in it. */
export function createMetrics({ process: ofProcess }: { readonly process: boolean }): Metrics {
  const registry = new Registry()
  const registers = [registry]
  if (ofProcess) collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'pagehaul_build_info',
    help: 'Always 1; the labels tell what runs.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: VERSION, node: process.version }, 1)
  const storeSize = new Gauge({ name: 'pagehaul_store_bytes', help: 'Size of the database.', registers })
  return {
    jobs: observeJobs(registers),
    requestFinished: observeRequests(registers),
    taskFinished: observeTasks(registers),
    contentType: registry.contentType,
    scrape(storeBytes) {
      if (storeBytes === undefined) storeSize.remove()
      else storeSize.set(storeBytes)
      return registry.metrics()
    },
  }
}

function observeRequests(registers: Registry[]): Metrics['requestFinished'] {
  const total = new Counter({
    name: 'pagehaul_http_requests_total',
    help: 'Requests by the status of their answer, or `aborted` if the connection ended before one.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const duration = new Histogram({
    name: 'pagehaul_http_request_duration_seconds',
    help: 'From a request to the end of its answer, or of the connection.',
    labelNames: ['method', 'route'],
    buckets: REQUEST_BUCKETS,
    registers,
  })
  return ({ method, route = 'none', status, durationMs }) => {
    total.inc({ method, route, status })
    duration.observe({ method, route }, durationMs / 1_000)
  }
}

function observeTasks(registers: Registry[]): Metrics['taskFinished'] {
  const duration = new Histogram({
    name: 'pagehaul_task_duration_seconds',
    help: 'Conversions and filters in child processes, with the wait for one.',
    labelNames: ['task', 'end'],
    buckets: TASK_BUCKETS,
    registers,
  })
  return (task, durationMs, end) => duration.observe({ task, end }, durationMs / 1_000)
}

function observeJobs(registers: Registry[]): JobObserver {
  const live = new Gauge({ name: 'pagehaul_jobs_live', help: 'Jobs that have started and not ended.', registers })
  const finished = new Counter({
    name: 'pagehaul_jobs_finished_total',
    help: 'Jobs that have ended, by final status.',
    labelNames: ['status'],
    registers,
  })
  for (const status of JOB_STATUSES.filter(isFinal)) finished.inc({ status }, 0) // So that the first one is an increase.
  const interrupted = new Counter({
    name: 'pagehaul_jobs_interrupted_total',
    help: 'Jobs that a process before this one had left unfinished.',
    registers,
  })
  return {
    jobStarted: () => live.inc(),
    jobFinished(status) {
      live.dec()
      finished.inc({ status })
    },
    jobsInterrupted: (count) => interrupted.inc(count),
    targetFinished: observeTargets(registers),
    webhookAttempted: observeWebhooks(registers),
  }
}

function observeWebhooks(registers: Registry[]): JobObserver['webhookAttempted'] {
  const attempts = new Counter({
    name: 'pagehaul_webhook_attempts_total',
    help: 'Attempts on webhooks: `delivered`, `failed` for good, or `pending` another one.',
    labelNames: ['state'],
    registers,
  })
  for (const state of WEBHOOK_STATES) attempts.inc({ state }, 0)
  return (state) => attempts.inc({ state })
}

function observeTargets(registers: Registry[]): JobObserver['targetFinished'] {
  const total = new Counter({
    name: 'pagehaul_targets_total',
    help: 'Targets with an outcome: `done`, or the error code of a failed one.',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of ['done', ...Object.keys(TARGET_ERRORS)]) total.inc({ outcome }, 0)
  const duration = new Histogram({
    name: 'pagehaul_target_duration_seconds',
    help: 'From the start of a target to its outcome.',
    labelNames: ['status'],
    buckets: TARGET_BUCKETS,
    registers,
  })
  const bytes = new Counter({
    name: 'pagehaul_target_bytes_total',
    help: 'Decoded bodies of targets that are done.',
    registers,
  })
  const recovered = new Counter({
    name: 'pagehaul_targets_recovered_total',
    help: 'Targets that are done by a copy from a web archive.',
    registers,
  })
  return (outcome, durationMs) => {
    const isDone = 'result' in outcome
    total.inc({ outcome: outcomeLabel(outcome) })
    duration.observe({ status: isDone ? 'done' : 'failed' }, durationMs / 1_000)
    if (!isDone) return
    bytes.inc(outcome.result.meta.bytes)
    if (outcome.result.meta.recovered) recovered.inc()
  }
}

/** Servers choose the number in `http_404` and its like; those that no standard knows share a label. */
function outcomeLabel(outcome: Outcome): string {
  if ('result' in outcome) return 'done'
  const { error } = outcome.failure
  const status = /^http_(\d+)$/.exec(error)?.[1]
  return status === undefined || status in STATUS_CODES ? error : 'http_other'
}
