import { pino } from 'pino'

import { systemClock as clock } from './clock.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import { createArchive } from './fetcher/archive/archive.ts'
import { createFetchTarget } from './fetcher/fetch-target.ts'
import { createConverter } from './fetcher/isolation/converter.ts'
import { createProgramChecker } from './fetcher/isolation/program-checker.ts'
import { createModel, type Model, MODEL_BYTES_MAX } from './fetcher/model/model.ts'
import { createEgressProxy } from './fetcher/network/egress-proxy.ts'
import { createGuard } from './fetcher/network/guard.ts'
import { createHostTurns } from './fetcher/network/host-turns.ts'
import { createNetwork, type Network } from './fetcher/network/network.ts'
import { createOriginGuard } from './fetcher/network/origin-guard.ts'
import { createIsPublicUrl } from './fetcher/network/public-url.ts'
import { systemResolve } from './fetcher/network/resolve.ts'
import { createPatientRequest } from './fetcher/patient-request.ts'
import { createRobots } from './fetcher/robots/robots.ts'
import { createDeliverWebhook } from './fetcher/webhook/deliver-webhook.ts'
import { buildApp } from './http/app.ts'
import { createMetrics } from './http/metrics.ts'
import { announcing, createJobChanges } from './jobs/changes.ts'
import { withDefaults } from './jobs/limits.ts'
import { observing } from './jobs/observer.ts'
import { startPurger } from './jobs/purger.ts'
import { createRunner } from './jobs/runner.ts'
import { createJobService } from './jobs/service.ts'
import { startWebhookDeliverer } from './jobs/webhook-deliverer.ts'
import { StoreOpenError } from './store/open.ts'
import { openSqliteStore } from './store/sqlite-store.ts'
import { VERSION } from './version.ts'

/** What targets in flight get to end and be stored when the service stops. */
const STOP_GRACE_MS = 10_000
/** What clients then get to read the rest of an answer before they are cut off. */
const ANSWERS_GRACE_MS = 5_000
/** For one answer of a model, with all tries. */
const MODEL_MS_MAX = 30_000

async function start(config: Config): Promise<void> {
  // Written at once: what is buffered would be tried for ever at the exit if its reader has gone.
  const logger = pino({ level: config.LOG_LEVEL }, pino.destination({ fd: 1, sync: true }))
  for (const warning of config.warnings) logger.warn(warning)
  const limits = withDefaults({
    leaseMs: config.PAGEHAUL_JOB_TTL_S * 1_000,
    targetsPerJobMax: config.PAGEHAUL_TARGETS_PER_JOB,
    jobsPerCallerMax: config.PAGEHAUL_JOBS_PER_CALLER,
    jobsTotalMax: config.PAGEHAUL_JOBS_TOTAL,
  })
  const bytesMax = config.PAGEHAUL_STORE_BYTES_MAX
  const changes = createJobChanges()
  const database = openSqliteStore(config.databaseFile, bytesMax > 0 ? { bytesMax } : {})
  const metrics = createMetrics({ process: true })
  const store = observing(announcing(database, changes), metrics.jobs)
  const interrupted = await store.failInterrupted(clock.now())
  if (interrupted > 0) logger.warn({ interrupted }, 'jobs were live when the last process ended')

  const userAgent = config.PAGEHAUL_USER_AGENT || `pagehaul/${VERSION}`
  const turns = createHostTurns({ clock, gapMs: config.PAGEHAUL_HOST_GAP_MS })
  const network = createNetwork({
    guard: createGuard({ allow: config.guardAllow, ports: config.guardPorts, nat64: config.PAGEHAUL_GUARD_NAT64 }),
    proxy: config.egressProxy === undefined ? undefined : createEgressProxy(config.egressProxy),
    userAgent,
    bodyBytesMax: config.PAGEHAUL_FETCH_BYTES_MAX,
  })
  const converter = createConverter({ onEnd: metrics.taskFinished })
  const checker = createProgramChecker()
  const modelAccess = openModel(config, userAgent)
  const robots =
    config.PAGEHAUL_ROBOTS === 'obey' ? createRobots({ request: network.request, turns, clock, userAgent }) : undefined
  const fetchTarget = createFetchTarget({
    request: createPatientRequest({ request: network.request, turns, clock, admit: robots?.assertAllowed }),
    converter,
    archive: createArchive({
      request: network.request,
      clock,
      archiveUrl: config.PAGEHAUL_ARCHIVE_URL,
      isPublic: createIsPublicUrl(systemResolve, config.PAGEHAUL_GUARD_NAT64),
    }),
    model: modelAccess?.model,
    clock,
    contentBytesMax: config.PAGEHAUL_CONTENT_BYTES_MAX,
    targetTimeoutMs: config.PAGEHAUL_TARGET_TIMEOUT_MS,
  })
  const runner = createRunner({
    store,
    fetchTarget,
    clock,
    logger,
    targetTimeoutMs: config.PAGEHAUL_TARGET_TIMEOUT_MS,
    leaseMs: limits.leaseMs,
    onDrained: changes.announce,
    onOutcome: metrics.jobs.targetFinished,
  })
  const { webhookSecrets: secrets, publicUrl } = config
  const takesWebhooks = secrets.length > 0
  const jobs = createJobService({ store, changes, runner, checkPrograms: checker.check, clock, limits, takesWebhooks })
  const deliver = createDeliverWebhook(network)
  const webhooks = takesWebhooks
    ? startWebhookDeliverer({ store, changes, runner, deliver, secrets, publicUrl, clock, logger })
    : undefined
  const purger = startPurger({ store, clock, logger })
  const app = await buildApp({
    jobs,
    clock,
    logger,
    targetsPerJobMax: limits.targetsPerJobMax,
    targetTimeoutMs: config.PAGEHAUL_TARGET_TIMEOUT_MS,
    access: config,
    metrics,
    storeBytes: store.size,
    docs: config.PAGEHAUL_DOCS === 'on',
  })

  stopOnSignal(async (signal) => {
    logger.info({ signal }, 'stopping')
    jobs.stop() // Submissions answer 503 from here on; results can be read to the end.
    await runner.close(STOP_GRACE_MS)
    void clock.delay(ANSWERS_GRACE_MS).then(() => app.server.closeAllConnections())
    await app.close()
    await purger.close()
    await webhooks?.close()
    await Promise.all([converter.close(), checker.close(), network.close(), modelAccess?.network.close()])
    await store.close()
    logger.info('stopped')
  })
  await app.listen({ host: config.HOST, port: config.PORT })
}

/** The model that answers questions, behind a network that leads to it alone; undefined if none is configured. */
function openModel(config: Config, userAgent: string): { model: Model; network: Network } | undefined {
  const { PAGEHAUL_LLM_BASE_URL: baseUrl, PAGEHAUL_LLM_MODEL: name, PAGEHAUL_LLM_API_KEY: apiKey } = config
  if (baseUrl === '') return undefined
  const guard = createOriginGuard(new URL(baseUrl).origin)
  const network = createNetwork({ guard, userAgent, bodyBytesMax: MODEL_BYTES_MAX })
  const model = createModel({
    post: network.post,
    clock,
    baseUrl,
    model: name,
    apiKey: apiKey || undefined,
    timeoutMs: MODEL_MS_MAX,
  })
  return { model, network }
}

/**
 * Runs `stop` at the first SIGTERM or SIGINT and exits with 0, or with 1 if it fails. A second signal changes nothing:
 * under `npm start`, Ctrl-C arrives twice, from the terminal and from npm.
 */
function stopOnSignal(stop: (signal: string) => Promise<void>): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      stop(signal).then(
        () => process.exit(0),
        (error: unknown) => exit(1, error),
      )
    })
  }
}

/** Tells the operator in one message what to do; a stack trace only where there is nothing to be done. */
function exit(code: number, error: unknown): never {
  const told = error instanceof ConfigError || error instanceof StoreOpenError ? error.message : cannotListen(error)
  process.stderr.write(`pagehaul: ${told instanceof Error ? (told.stack ?? told.message) : String(told)}\n`)
  process.exit(code)
}

/** In words, if the address to listen on is not to be had; any other error as it is. */
function cannotListen(error: unknown): unknown {
  const { syscall, code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  if (syscall === 'getaddrinfo') return 'the name HOST leads to no address; set an address of this machine.'
  if (syscall !== 'listen') return error
  if (code === 'EADDRINUSE') return 'another program listens at this HOST and PORT; stop it, or set others.'
  if (code === 'EADDRNOTAVAIL') return 'this machine has no address HOST; set another.'
  if (code === 'EACCES') return 'the system does not let this user listen at PORT; set one of 1024 or more.'
  return error
}

try {
  await start(loadConfig(process.env))
} catch (error) {
  exit(error instanceof ConfigError ? 2 : 1, error)
}
