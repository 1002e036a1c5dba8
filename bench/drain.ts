// Outcomes per second of the store, beside the same writes without group commit and the fdatasync rate of the disk.
// Only the ratios mean anything on a shared machine; the three take turns in one run.
import { randomUUIDv7 } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'

import { DEFAULT_LIMITS } from '../src/jobs/limits.ts'
import type { JobStore } from '../src/jobs/store.ts'
import { openSqliteStore } from '../src/store/sqlite-store.ts'

const META = {
  final_url: 'https://a.example/',
  http_status: 200,
  bytes: 1,
  fetched_at: '',
  duration_ms: 1,
  attempts: 1,
}
const JOBS = 8
const TARGETS = 32
const ROUNDS = 5
const CONTENT = 'A line of text, as pages have them.\n'.repeat(100)

const folder = mkdtempSync(path.join(process.cwd(), 'data', 'bench-'))
const rates = { grouped: [] as number[], alone: [] as number[], fdatasync: [] as number[] }
try {
  const store = openSqliteStore(path.join(folder, 'bench.db'))
  for (let turn = 0; turn < ROUNDS; turn++) {
    rates.grouped.push(await drain(store, 'together'))
    rates.alone.push(await drain(store, 'one by one'))
    rates.fdatasync.push(syncRate(path.join(folder, 'sync')))
  }
  await store.close()
} finally {
  rmSync(folder, { recursive: true })
}
const [grouped, alone, fdatasync] = [rates.grouped, rates.alone, rates.fdatasync].map(median)
console.table({
  'outcomes/s, group commit': { median: round(grouped), 'of fdatasync': round(ratio(grouped, fdatasync)) },
  'outcomes/s, a commit each': { median: round(alone), 'of fdatasync': round(ratio(alone, fdatasync)) },
  'fdatasync/s': { median: round(fdatasync), 'of fdatasync': 1 },
  'group commit : a commit each': { median: round(ratio(grouped, alone)) },
})

/** Outcomes per second of 8 jobs that drain at once; `one by one` waits for each commit, so that no two share one. */
async function drain(store: JobStore, how: 'together' | 'one by one'): Promise<number> {
  const limits = { ...DEFAULT_LIMITS, jobsTotalMax: JOBS }
  const jobs = await Promise.all(
    Array.from({ length: JOBS }, async (_, index) => {
      const targets = Array.from({ length: TARGETS }, () => ({
        url: 'https://a.example/',
        customId: undefined,
        options: {},
      }))
      const job = {
        id: randomUUIDv7(),
        caller: `${index}`,
        key: Buffer.from(randomUUIDv7()),
        targets,
        createdAt: 0,
        expiresAt: 0,
      }
      return (await store.submit(job, limits, false)).snapshot.job.id
    }),
  )
  const record = (id: string, idx: number) =>
    store.recordOutcome(id, idx, { result: { content: CONTENT, meta: META } }, 0, 0)
  const startedAt = performance.now()
  if (how === 'together') {
    await Promise.all(
      jobs.map(async (id) => {
        for (let idx = 0; idx < TARGETS; idx++) await record(id, idx)
      }),
    )
  } else {
    for (let idx = 0; idx < TARGETS; idx++) for (const id of jobs) await record(id, idx)
  }
  const rate = (JOBS * TARGETS * 1_000) / (performance.now() - startedAt)
  await store.purgeExpired(0)
  return rate
}

/** Writes of one page, each flushed to the disk, per second. */
function syncRate(file: string): number {
  const descriptor = openSync(file, 'w')
  const page = Buffer.alloc(4_096)
  const startedAt = performance.now()
  for (let count = 0; count < JOBS * TARGETS; count++) {
    writeSync(descriptor, page)
    fdatasyncSync(descriptor)
  }
  closeSync(descriptor)
  return (JOBS * TARGETS * 1_000) / (performance.now() - startedAt)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

function ratio(a = 0, b = 1): number {
  return a / b
}

function round(value = 0): number {
  return Number(value.toPrecision(3))
}
