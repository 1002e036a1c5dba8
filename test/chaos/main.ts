// The chaos run: callers that do everything at once over the behaviours of the lab, while the service is killed and
// stopped at random. Afterwards a checker holds all that was written down against what the service promises.
//   node test/chaos/main.ts [--minutes N] [--seed N] [--keep]
// With --keep the logs stay even if nothing is wrong.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { createRandom, type Random } from '../helpers/random.ts'
import { pickFavourites } from './batches.ts'
import { check } from './check.ts'
import { createCallers } from './clients.ts'
import { refusedKinds, serveForbidden } from './forbidden.ts'
import { startLabProcess } from './lab-process.ts'
import { type Entry, type Hit, openLog, readLog, type Settings } from './log.ts'
import { keepService, type ServiceProcess } from './service-process.ts'
import { readStored } from './stored.ts'
import { summary } from './summary.ts'

const CALLERS = 8
/** An address that nothing else of this machine listens on, so that its port is free again after each kill. */
const SERVICE_ADDRESS = `127.9.${(process.pid >> 8) & 255}.${process.pid & 255}`
const SERVICE_PORT = 8_080
/** Milliseconds that a process gets on average before the next blow; more where it takes long to start. */
const BLOW_MS = 10_000
const BLOW_STARTS = 2
/** Milliseconds to the first blow at most, so that there is one in any run. */
const FIRST_BLOW_MS_MAX = 15_000
const TICK_MS = 1_000
/** Callers leave so many milliseconds before the time is over: then everything is read and compared. */
const READING_MS = 10_000
/** Violations that are printed. The log has the rest. */
const PRINTED_MAX = 20

const CAPS = { targetsPerJobMax: 16, jobsPerCallerMax: 2, jobsTotalMax: 10 }
const TARGET_TIMEOUT_MS = 8_000
const HOST_GAP_MS = 100
/** Targets in flight get 10 s when the service stops, answers another 5 s. */
const STOP_MS_MAX = 16_000

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, keep: { type: 'boolean' } },
})
const runMs = Number(values.minutes ?? 1) * 60_000
const seed = Number(values.seed ?? Date.now() % 1_000_000)
if (!(runMs > READING_MS) || !Number.isInteger(seed)) throw new Error('usage: --minutes N --seed N, both numbers')
/** Leases end within the run. */
const leaseS = Math.min(120, Math.max(15, Math.round(runMs / 3_000)))

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)) // The service must not stay behind.
const startedAt = Date.now()
const folder = mkdtempSync(path.join(tmpdir(), 'pagehaul-chaos-'))
const files = { callers: path.join(folder, 'callers.ndjson'), lab: path.join(folder, 'lab.ndjson') }
process.stdout.write(`Chaos for ${runMs / 1_000} s with seed ${seed}, in ${folder}\n`)
await run()
const { history, violations } = await check(readLog<Entry>(files.callers), readLog<Hit>(files.lab))
process.stdout.write(summary(history, Date.now() - startedAt))
for (const { rule, says } of violations.slice(0, PRINTED_MAX)) process.stdout.write(`${rule}: ${says}\n`)
process.stdout.write(`violations: ${violations.length}\n`)
if (violations.length > 0) process.exitCode = 1
if (violations.length === 0 && values.keep !== true) rmSync(folder, { recursive: true })
else process.stdout.write(`The logs are in ${folder}. --seed ${seed} makes the same choices again, at other moments.\n`)

/** Lets it happen, and writes everything down. */
async function run(): Promise<void> {
  const random = createRandom(seed)
  const log = openLog(files.callers)
  const tick = () => log.write({ kind: 'tick', at: Date.now(), monotonicMs: performance.now() })
  const lab = await startLabProcess(files.lab)
  const forbidden = await serveForbidden(log)
  const origin = `http://${SERVICE_ADDRESS}:${SERVICE_PORT}`
  const echo = lab.kinds.find(({ name }) => name === 'echo')
  const kinds = [...lab.kinds, ...refusedKinds(forbidden.port, origin, new URL(echo?.url ?? '').hostname)]
  log.write(settings(kinds))
  tick()
  const ticking = setInterval(tick, TICK_MS)

  const database = path.join(folder, 'jobs.db')
  const output = path.join(folder, 'service.log')
  const service = keepService({ origin, env: environment(lab, database), output, log })
  const leaving = new AbortController()
  const options = {
    origin,
    log,
    kinds: pickFavourites(kinds, random),
    targetsPerJobMax: CAPS.targetsPerJobMax,
    signal: leaving.signal,
  }
  const callers = createCallers(
    Array.from({ length: CALLERS }, (_, index) => `c${index}`),
    options,
  )
  await service.up()
  const blows = strike(service, random.fork(), leaving.signal)
  const acting = callers.map((caller) => caller.run(random.fork()))
  await setTimeout(runMs - READING_MS)
  leaving.abort()
  await Promise.all([blows, ...acting])

  await service.end()
  service.start()
  await service.up()
  await Promise.all(callers.map((caller) => caller.readAll()))
  await service.end()
  for (const entry of readStored(database)) log.write(entry)
  clearInterval(ticking)
  tick()
  if ((await lab.close()) > 0) log.write({ kind: 'touch', at: Date.now(), place: lab.forbidden })
  await forbidden[Symbol.asyncDispose]()
  await log.close()
}

/** Kills the service or stops it, now and then; or does the one while it does the other. Each comes early once. */
async function strike(service: ServiceProcess, random: Random, signal: AbortSignal): Promise<void> {
  const pause = (ms: number) => setTimeout(ms, undefined, { signal }).catch(() => undefined)
  for (let blows = 0; !signal.aborted; blows += 1) {
    const isEarly = random.chance(0.2) // It may fall while the process starts.
    const startMs = isEarly ? 0 : await service.up()
    const waitMs = random.exponential(Math.max(BLOW_MS, BLOW_STARTS * startMs))
    await pause(blows === 0 ? Math.min(waitMs, FIRST_BLOW_MS_MAX) : waitMs)
    if (signal.aborted) return
    if (blows === 0 || (blows > 1 && random.chance(0.6))) service.send('kill')
    else {
      await service.up()
      service.send('term')
      await pause(random.whole(0, 2_000))
      if (random.chance(0.2)) service.send('kill')
    }
  }
}

function settings(expectations: Settings['expectations']): Settings {
  return {
    kind: 'settings',
    at: Date.now(),
    seed,
    leaseMs: leaseS * 1_000,
    targetTimeoutMs: TARGET_TIMEOUT_MS,
    stopMsMax: STOP_MS_MAX,
    ...CAPS,
    expectations,
  }
}

function environment(
  lab: { readonly allow: readonly string[]; readonly nameServer: string; readonly archive: string },
  database: string,
): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    HOST: SERVICE_ADDRESS,
    PORT: String(SERVICE_PORT),
    DATABASE_URL: `file:${database}`,
    NODE_COMPILE_CACHE: path.join(folder, 'compiled'), // A process that starts soon is killed more often.
    NODE_EXTRA_CA_CERTS: 'test/fixtures/tls/ca.pem',
    LAB_NAME_SERVER: lab.nameServer,
    PAGEHAUL_ARCHIVE_URL: lab.archive,
    PAGEHAUL_GUARD_ALLOW: lab.allow.join(','),
    PAGEHAUL_GUARD_PORTS: '*',
    PAGEHAUL_HOST_GAP_MS: String(HOST_GAP_MS),
    PAGEHAUL_TARGET_TIMEOUT_MS: String(TARGET_TIMEOUT_MS),
    PAGEHAUL_JOB_TTL_S: String(leaseS),
    PAGEHAUL_TARGETS_PER_JOB: String(CAPS.targetsPerJobMax),
    PAGEHAUL_JOBS_PER_CALLER: String(CAPS.jobsPerCallerMax),
    PAGEHAUL_JOBS_TOTAL: String(CAPS.jobsTotalMax),
  }
}
