// Resident memory of a real service, and of all its processes together, while it fetches 2,000 pages of 200 kB. Needs Linux.
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'

import { childrenOf, residentBytes } from '../test/helpers/process-state.ts'
import { startService } from '../test/helpers/process.ts'
import { serve } from '../test/helpers/serve.ts'

const PAGES = 2_000
/** Pages after which memory is expected to have settled. */
const SETTLED = 200
const PAGE_BYTES = 200_000
const JOB_TARGETS = 40
const MEGABYTE = 1024 * 1024

await using server = await serve(Object.fromEntries(Array.from({ length: PAGES }, (_, n) => [`/${n}`, page(n)])))
const folder = mkdtempSync(path.join(process.cwd(), 'data', 'bench-'))
const service = await startService({
  DATABASE_URL: `file:${folder}/bench.db`,
  PAGEHAUL_TARGETS_PER_JOB: String(JOB_TARGETS),
})
const samples: { pages: number; service: number; all: number }[] = []
try {
  for (let first = 0; first < PAGES; first += JOB_TARGETS) {
    const targets = Array.from({ length: JOB_TARGETS }, (_, n) => ({ url: `${server.origin}/${first + n}` }))
    const { status, body } = await service.submit({ targets })
    if (status !== 202) throw new Error(`A submission was answered with ${status}.`)
    const job = await service.ended(body.id)
    if (job.status !== 'done') throw new Error(`A job ended as ${job.status}.`)
    samples.push({ pages: first + JOB_TARGETS, ...memory(service.child.pid ?? 0) })
  }
} finally {
  await service.stop('SIGTERM')
  rmSync(folder, { recursive: true })
}
const settled = at(SETTLED)
const rows = [SETTLED, 500, 1_000, 1_500, PAGES].map((pages) => [
  `after ${pages} pages`,
  {
    'service MB': round(at(pages).service),
    'of settled': (at(pages).service / settled.service).toFixed(2),
    'all processes MB': round(at(pages).all),
    'all of settled': (at(pages).all / settled.all).toFixed(2),
  },
])
console.table(Object.fromEntries(rows))
console.log(`largest: service ${round(Math.max(...samples.map((sample) => sample.service)))} MB`)

/** The mean of up to five samples that end there, since the collector makes single ones jump. */
function at(pages: number): { service: number; all: number } {
  const near = samples.filter((sample) => sample.pages <= pages).slice(-5)
  const mean = (of: 'service' | 'all') => near.reduce((sum, sample) => sum + sample[of], 0) / near.length
  return { service: mean('service'), all: mean('all') }
}

/** Resident bytes of a process, and of it and its children. */
function memory(pid: number): { service: number; all: number } {
  const service = residentBytes(pid)
  return { service, all: childrenOf(pid).reduce((sum, child) => sum + residentBytes(child), service) }
}

function page(seed: number): { type: string; body: string } {
  const sentence = `Page ${seed} tells of lamp ${seed * 7}, which was lit in ${1_000 + seed} and seen by ships far out. `
  const paragraph = `<p class="text p${seed}">${sentence.repeat(6)}<a href="/${seed + 1}">next</a></p>\n`
  const body = paragraph.repeat(Math.ceil(PAGE_BYTES / paragraph.length))
  return {
    type: 'text/html',
    body: `<!doctype html><title>Page ${seed}</title><main><h1>Page ${seed}</h1>${body}</main>`,
  }
}

function round(bytes: number): number {
  return Math.round(bytes / MEGABYTE)
}
