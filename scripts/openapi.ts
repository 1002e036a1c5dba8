// Writes openapi.yaml from the schemas that validate the requests. With --check it only compares, and fails if they differ.
import { readFileSync, writeFileSync } from 'node:fs'

import { pino } from 'pino'
import { stringify } from 'yaml'

import { systemClock } from '../src/clock.ts'
import { buildApp } from '../src/http/app.ts'
import { createMetrics } from '../src/http/metrics.ts'
import { DEFAULT_LIMITS } from '../src/jobs/limits.ts'
import type { JobService } from '../src/jobs/service.ts'

const FILE = new URL('../openapi.yaml', import.meta.url)

// The routes are declared and never called, so that no service is needed.
const jobs = {} as JobService
const app = await buildApp({
  jobs,
  clock: systemClock,
  logger: pino({ level: 'silent' }),
  targetsPerJobMax: DEFAULT_LIMITS.targetsPerJobMax,
  targetTimeoutMs: 60_000,
  metrics: createMetrics({ process: false }),
  storeBytes: async () => 0,
  docs: false,
})
await app.ready()
const document = stringify(app.swagger(), { lineWidth: 120, aliasDuplicateObjects: false })

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, document)
} else if (readFileSync(FILE, 'utf8') !== document) {
  console.error('openapi.yaml is stale; run `npm run openapi` and commit it.')
  process.exit(1)
}
