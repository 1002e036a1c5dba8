import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyBaseLogger, LogController } from 'fastify'

import * as schemas from '../jobs/schema.ts'
import type { JobService } from '../jobs/service.ts'
import { jsonBodyPlugin } from './json-body.ts'
import { OPENAPI } from './openapi.ts'
import { problemPlugin, sendProblem } from './problem.ts'
import { healthRoutes } from './routes/health.ts'
import { jobRoutes } from './routes/jobs.ts'
import { createValidatorCompiler } from './validation.ts'

const BODY_BYTES_MAX = 512 * 1_024
/** A client that sends its request slower than this is cut off. */
const REQUEST_TIMEOUT_MS = 30_000
/** An id longer than any of ours still answers `job_not_found`. */
const PARAM_LENGTH_MAX = 16_384

const SHARED = [
  schemas.TargetOptions,
  schemas.Target,
  schemas.Submission,
  schemas.TargetMeta,
  schemas.TargetResult,
  schemas.TargetView,
  schemas.JobSummary,
  schemas.JobView,
  schemas.JobList,
]

export interface AppOptions {
  readonly jobs: JobService
  readonly logger: FastifyBaseLogger
  readonly targetsPerJobMax: number
}

/** Builds the HTTP side. Listens to nothing: `main.ts` calls `listen`, tests call `inject`. */
export async function buildApp({ jobs, logger, targetsPerJobMax }: AppOptions) {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }), // The hook below logs instead.
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    return503OnClosing: false,
    frameworkErrors: (...refused) => void sendProblem(...refused), // What is refused before there is a route, such as a broken escape in the path.
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.setValidatorCompiler(createValidatorCompiler(SHARED))
  for (const schema of SHARED) app.addSchema(schema)
  app.addHook('onResponse', async ({ log, method, routeOptions }, { statusCode, elapsedTime }) => {
    // The route, not the URL: paths and queries can hold what belongs in no log.
    log.info({ method, route: routeOptions.url, statusCode, durationMs: Math.round(elapsedTime) }, 'request finished')
  })
  await app.register(swagger, OPENAPI)
  await app.register(problemPlugin)
  await app.register(jsonBodyPlugin)
  await app.register(healthRoutes, { jobs })
  await app.register(jobRoutes, { jobs, targetsPerJobMax })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  return app
}
