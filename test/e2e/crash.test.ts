import { setTimeout } from 'node:timers/promises'

import Database from 'better-sqlite3'
import { expect, it } from 'vitest'

import { servePages } from '../helpers/page-server.ts'
import { startService } from '../helpers/process.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** `npm run test:crash` makes it 100. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 5)
/** The longest that a round runs before it is killed. The point within is random. */
const ROUND_MS_MAX = 800
const CALLERS = Array.from({ length: 8 }, (_, index) => `caller-${index}`)

it(
  `loses no acknowledged outcome to kill -9 at random points, ${ROUNDS} rounds`,
  async () => {
    using temp = tempFolder()
    await using pages = await servePages()
    const file = temp.file('jobs.db')
    /** What clients were shown: content by job and index. It must be there for good. */
    const acknowledged = new Map<string, { caller: string; contents: Map<number, string> }>()

    for (let round = 0; round < ROUNDS; round++) {
      const service = await startService({ DATABASE_URL: `file:${file}`, LOG_LEVEL: 'info' })
      for (const [id, { caller, contents }] of [...acknowledged].slice(-16)) {
        const job = await service.get(id, caller)
        expect(job.status).not.toMatch(/queued|running/)
        for (const [idx, content] of contents) expect(job.targets[idx]?.result?.content).toBe(content)
      }
      // 8 jobs that died with the last process take no slot.
      const submitted = await Promise.all(
        CALLERS.map(async (caller) => {
          const targets = Array.from({ length: 32 }, (_, idx) => ({
            url: `${pages.origin}/echo/${round}/${caller}/${idx}`,
          }))
          const { status, body } = await service.submit({ targets, reuse: false }, caller)
          expect(status).toBe(202)
          acknowledged.set(body.id, { caller, contents: new Map() })
          return { id: body.id, caller }
        }),
      )
      const killed = new AbortController()
      const firstOutcome = Promise.withResolvers<void>()
      const watching = submitted.map(async ({ id, caller }) => {
        while (!killed.signal.aborted) {
          const job = await service.get(id, caller).catch(() => undefined) // The process may be dead by now.
          for (const { idx, result } of job?.targets ?? []) {
            if (!result) continue
            acknowledged.get(id)?.contents.set(idx, result.content)
            firstOutcome.resolve()
          }
        }
      })
      if (round % 4 > 0) await firstOutcome.promise // Every fourth round may die before anything is stored.
      await setTimeout(Math.random() * ROUND_MS_MAX) // The fault itself, at a random moment; nothing waits for it to pass.
      await service.stop('SIGKILL')
      killed.abort()
      await Promise.all(watching)
    }

    const last = await startService({ DATABASE_URL: `file:${file}` })
    let outcomes = 0
    for (const [id, { caller, contents }] of acknowledged) {
      const job = await last.get(id, caller)
      const done = job.targets.filter(({ status }) => status !== 'pending')
      expect(job.targets_done).toBe(done.length)
      expect(job.targets_failed).toBe(done.filter(({ status }) => status === 'failed').length)
      if (job.targets_done < 32) expect(job).toMatchObject({ status: 'failed', error: 'restart' })
      for (const [idx, content] of contents) expect(job.targets[idx]?.result?.content).toBe(content)
      for (const { idx, url, result } of done) expect(result?.content, `${id} ${idx}`).toBe(new URL(url).pathname)
      outcomes += contents.size
    }
    expect(acknowledged.size).toBe(ROUNDS * CALLERS.length)
    expect(outcomes).toBeGreaterThan(0)
    expect(await last.stop('SIGTERM')).toBe(0)

    const db = new Database(file)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(db.prepare('SELECT count(*) FROM job WHERE finished_at IS NULL').pluck().get()).toBe(0)
    db.close()
  },
  ROUNDS * 20_000 + 60_000,
)
