// Peak resident memory of a real service while every hostile page and document goes through it, each followed by a
// harmless one, and how each of them ends.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

import { HOSTILE_PAGES } from '../test/helpers/hostile-pages.ts'
import { HOSTILE_PDFS } from '../test/helpers/pdf-files.ts'
import { mostResidentBytes } from '../test/helpers/process-state.ts'
import { startService } from '../test/helpers/process.ts'
import { type Route, serve } from '../test/helpers/serve.ts'

/** A folder of further documents, such as more hostile PDFs. */
const FOLDER = process.env.HOSTILE_DIR
const JOB_TARGETS = 16

const documents: [string, string, () => string | Uint8Array][] = [
  ...Object.entries(HOSTILE_PAGES).map(([name, build]) => [name, 'text/html', build] as [string, string, () => string]),
  ...Object.entries(HOSTILE_PDFS).map(
    ([name, build]) => [name, 'application/pdf', build] as [string, string, () => Uint8Array],
  ),
  ...(FOLDER === undefined ? [] : filesOf(FOLDER)),
]
const routes: Record<string, Route> = { '/next': { type: 'text/plain', body: 'next' } }
for (const [index, [, type, build]] of documents.entries()) routes[`/${index}`] = { type, body: build() }

await using server = await serve(routes)
const service = await startService({ DATABASE_URL: ':memory:', PAGEHAUL_JOBS_PER_CALLER: '2' })
const endings: Record<string, object> = {}
let afterwards = 0
try {
  for (let first = 0; first < documents.length; first += JOB_TARGETS) {
    const part = documents.slice(first, first + JOB_TARGETS)
    const targets = part.flatMap((_, index) => [
      { url: `${server.origin}/${first + index}` },
      { url: `${server.origin}/next` },
    ])
    const { body } = await service.submit({ targets, reuse: false })
    const job = await service.ended(body.id)
    for (const [index, [name]] of part.entries()) {
      const { error, result } = job.targets[2 * index] ?? {}
      const next = job.targets[2 * index + 1]?.result?.content
      if (next !== 'next') throw new Error(`After ${name} the next target gave ${next}.`)
      afterwards += 1
      endings[name] = { ends: error ?? 'done', seconds: ((result?.meta.duration_ms ?? 0) / 1_000).toFixed(1) }
    }
  }
  const peak = Math.round(mostResidentBytes(service.child.pid ?? 0) / 2 ** 20)
  console.table(endings)
  console.log(`The service process took at most ${peak} MB; ${afterwards} harmless targets followed.`)
} finally {
  await service.stop('SIGTERM')
}

function filesOf(folder: string): [string, string, () => Uint8Array][] {
  return readdirSync(folder)
    .filter((name) => name.includes('.'))
    .map((name) => [name, 'application/octet-stream', () => readFileSync(path.join(folder, name))])
}
