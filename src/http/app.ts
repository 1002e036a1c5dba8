import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger } from 'fastify'

import type { ApiKey } from '../api-key.ts'
import type { Clock } from '../clock.ts'
import type { IpRange } from '../ip.ts'
import * as schemas from '../jobs/schema.ts'
import type { JobService } from '../jobs/service.ts'
import { bodyPlugin } from './body.ts'
import { callerPlugin } from './caller.ts'
import { hostCheckPlugin } from './host-check.ts'
import { createJobBodies } from './job-body.ts'
import { methodsPlugin } from './methods.ts'
import { OPENAPI } from './openapi.ts'
import { problemPlugin, sendProblem } from './problem.ts'
import { echoRequestId, requestIdOf, requestIdPlugin } from './request-id.ts'
import { logWhenOver, RequestLogController } from './request-log.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { jobRoutes } from './routes/jobs.ts'
import { metricsRoute, type MetricsRouteOptions } from './routes/metrics.ts'
import { problemRoutes } from './routes/problems.ts'
import { resultRoutes } from './routes/results.ts'
import { targetRoutes } from './routes/targets.ts'
import { createValidatorCompiler } from './validation.ts'

const BODY_BYTES_MAX = 512 * 1_024
/** A client that sends its request slower than this is cut off. */
const REQUEST_TIMEOUT_MS = 30_000
/** An id longer than any of ours still answers `job_not_found`. */
const PARAM_LENGTH_MAX = 16_384

const SHARED = [
  schemas.TargetOptions,
  schemas.Target,
  schemas.Webhook,
  schemas.Submission,
  schemas.OutlineEntry,
  schemas.Passage,
  schemas.Answer,
  schemas.Recovered,
  schemas.TargetMeta,
  schemas.TargetState,
  schemas.JobState,
  schemas.TargetResult,
  schemas.TargetView,
  schemas.WebhookView,
  schemas.JobSummary,
  schemas.FinishedJob,
  schemas.JobFinished,
  schemas.JobView,
  schemas.JobList,
]

/** Who may use the service, and how callers are told apart. */
export interface Access {
  /** If there are any, each request for jobs must have one of them. */
  readonly apiKeys: readonly ApiKey[]
  /** Proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly IpRange[]
  /** Names of the service, in lower case, beside its addresses and `localhost`; `*` for any. */
  readonly allowedHosts: readonly string[] | '*'
}

/** Everyone, told apart by address, and under no name but `localhost`. */
const OPEN_ACCESS: Access = { apiKeys: [], trustedProxies: [], allowedHosts: [] }

export interface AppOptions extends MetricsRouteOptions {
  readonly jobs: JobService
  readonly clock: Clock
  readonly logger: FastifyBaseLogger
  readonly targetsPerJobMax: number
  /** Milliseconds that a target can take. */
  readonly targetTimeoutMs: number
  /** What is left out is as if its setting were not set. */
  readonly access?: Partial<Access>
  /** Whether there are pages of documentation. */
  readonly docs: boolean
}

/** Builds the HTTP side. Listens to nothing: `main.ts` calls `listen`, tests call `inject`. */
export async function buildApp(options: AppOptions) {
  const { jobs, clock, logger, targetsPerJobMax, targetTimeoutMs, metrics, storeBytes, docs } = options
  const access: Access = { ...OPEN_ACCESS, ...options.access }
  const bodies = createJobBodies(jobs.readOutcome, targetTimeoutMs)
  const app = fastify({
    loggerInstance: logger,
    logController: new RequestLogController(),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    return503OnClosing: false,
    genReqId: requestIdOf,
    // What is refused before there is a route or a hook, such as a broken escape in the path.
    frameworkErrors: (error, request, reply) => {
      logWhenOver(request, reply, metrics.requestFinished)
      echoRequestId(request, reply)
      sendProblem(error, request, reply)
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(createValidatorCompiler(SHARED))
  for (const schema of SHARED) app.addSchema(schema)
  app.addHook('onRequest', async (request, reply) => logWhenOver(request, reply, metrics.requestFinished))
  await app.register(requestIdPlugin)
  await app.register(methodsPlugin)
  await app.register(swagger, OPENAPI)
  await app.register(problemPlugin)
  await app.register(bodyPlugin)
  await app.register(healthRoutes, { jobs })
  await app.register(metricsRoute, { metrics, storeBytes })
  await app.register(problemRoutes)
  if (docs) await app.register(docsRoutes)
  await app.register(async (scope) => {
    await scope.register(hostCheckPlugin, access)
    await scope.register(callerPlugin, { ...access, clock })
    await scope.register(jobRoutes, { jobs, bodies, targetsPerJobMax })
    await scope.register(targetRoutes, { jobs, bodies })
    await scope.register(resultRoutes, { jobs, bodies, clock })
  })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  return app
}
