import { pino } from 'pino'

import { systemClock as clock } from './clock.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import { createFetchTarget } from './fetcher/fetch-target.ts'
import { createConverter } from './fetcher/isolation/pool.ts'
import { createGuard } from './fetcher/network/guard.ts'
import { createRequest } from './fetcher/network/request.ts'
import { buildApp } from './http/app.ts'
import { withDefaults } from './jobs/limits.ts'
import { startPurger } from './jobs/purger.ts'
import { createRunner } from './jobs/runner.ts'
import { createJobService } from './jobs/service.ts'
import { StoreOpenError } from './store/open.ts'
import { openSqliteStore } from './store/sqlite-store.ts'
import { VERSION } from './version.ts'

/** What targets in flight get to end and be stored when the service stops. */
const STOP_GRACE_MS = 10_000

async function start(config: Config): Promise<void> {
  const logger = pino({ level: config.LOG_LEVEL })
  const limits = withDefaults({
    leaseMs: config.PAGEHAUL_JOB_TTL_S * 1_000,
    targetsPerJobMax: config.PAGEHAUL_TARGETS_PER_JOB,
    jobsPerCallerMax: config.PAGEHAUL_JOBS_PER_CALLER,
    jobsTotalMax: config.PAGEHAUL_JOBS_TOTAL,
  })
  const bytesMax = config.PAGEHAUL_STORE_BYTES_MAX
  const store = openSqliteStore(config.databaseFile, bytesMax > 0 ? { bytesMax } : {})
  const interrupted = await store.failInterrupted(clock.now())
  if (interrupted > 0) logger.warn({ interrupted }, 'jobs were live when the last process ended')

  const network = createRequest({
    guard: createGuard({ allow: config.guardAllow, ports: config.guardPorts }),
    userAgent: config.PAGEHAUL_USER_AGENT || `pagehaul/${VERSION}`,
    bodyBytesMax: config.PAGEHAUL_FETCH_BYTES_MAX,
  })
  const converter = createConverter({})
  const fetchTarget = createFetchTarget({
    request: network.request,
    convert: converter.convert,
    clock,
    contentBytesMax: config.PAGEHAUL_CONTENT_BYTES_MAX,
  })
  const runner = createRunner({
    store,
    fetchTarget,
    clock,
    logger,
    targetTimeoutMs: config.PAGEHAUL_TARGET_TIMEOUT_MS,
    leaseMs: limits.leaseMs,
  })
  const jobs = createJobService({ store, runner, clock, limits })
  const purger = startPurger({ store, clock, logger })
  const app = await buildApp({ jobs, logger, targetsPerJobMax: limits.targetsPerJobMax })

  stopOnSignal(async (signal) => {
    logger.info({ signal }, 'stopping')
    jobs.stop() // Submissions answer 503 from here on; results can be read to the end.
    await runner.close(STOP_GRACE_MS)
    await app.close()
    await purger.close()
    await converter.close()
    await network.close()
    await store.close()
    logger.info('stopped')
  })
  await app.listen({ host: config.HOST, port: config.PORT })
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
  const told = error instanceof ConfigError || error instanceof StoreOpenError ? error.message : error
  process.stderr.write(`pagehaul: ${told instanceof Error ? (told.stack ?? told.message) : String(told)}\n`)
  process.exit(code)
}

try {
  await start(loadConfig(process.env))
} catch (error) {
  exit(error instanceof ConfigError ? 2 : 1, error)
}
