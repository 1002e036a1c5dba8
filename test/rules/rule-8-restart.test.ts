import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { buildService, numbered } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** What a process leaves behind that is killed: nothing is ended, nothing is flushed. */
async function buildAndAbandon(file: string) {
  const service = await buildService({ file })
  const { body } = await service.submit(['a', 'b', 'c'])
  await service.fetch.next().then((call) => call.succeed('A'))
  await service.fetch.peek()
  await service.app.close()
  await service.store.close()
  return body.id
}

describe('rule 8: restart', () => {
  it('fails what a dead process left live; stored targets stay readable, and it is never resumed', async () => {
    using temp = tempFolder()
    const id = await buildAndAbandon(temp.file('jobs.db'))
    await using service = await buildService({ file: temp.file('jobs.db') })
    service.clock.advance(5_000)
    expect(await service.store.failInterrupted(service.clock.now())).toBe(1)
    expect((await service.get(id)).body).toMatchObject({
      status: 'failed',
      error: 'restart',
      finished_at: new Date(service.clock.now()).toISOString(),
      targets_done: 1,
      targets_failed: 0,
      targets: [{ result: { content: 'A' } }, { status: 'pending' }, { status: 'pending' }],
    })
    expect(service.fetch.waiting).toBe(0)
    expect((await service.cancel(id)).body.code).toBe('job_finished')
    expect(await service.store.failInterrupted(service.clock.now())).toBe(0)
  })

  it('fails a job that died between `queued` and `running`', async () => {
    using temp = tempFolder()
    const id = await buildAndAbandon(temp.file('jobs.db'))
    const db = new Database(temp.file('jobs.db'))
    db.prepare(`UPDATE job SET status = 'queued', started_at = NULL`).run()
    db.close()
    await using service = await buildService({ file: temp.file('jobs.db') })
    expect((await service.get(id)).body.status).toBe('queued')
    await service.store.failInterrupted(service.clock.now())
    expect((await service.get(id)).body).toMatchObject({ status: 'failed', error: 'restart' })
  })

  it('does not count dead jobs against any cap', async () => {
    using temp = tempFolder()
    {
      const dead = await buildService({ file: temp.file('jobs.db') })
      for (const caller of numbered(8)) await dead.submit(['a'], caller)
      await dead.app.close()
      await dead.store.close()
    }
    await using service = await buildService({ file: temp.file('jobs.db') })
    expect(await service.store.failInterrupted(service.clock.now())).toBe(8)
    for (const caller of numbered(8)) expect((await service.submit(['b'], caller)).status).toBe(202)
  })

  it('keeps finished jobs as they were, and lists them', async () => {
    using temp = tempFolder()
    const before: unknown[] = []
    {
      await using service = await buildService({ file: temp.file('jobs.db') })
      service.fetch.answer((call) => call.succeed(call.url))
      for (const name of numbered(5)) {
        const { body } = await service.submit([name])
        await service.runner.idle()
        before.push((await service.get(body.id)).body)
      }
    }
    await using service = await buildService({ file: temp.file('jobs.db') })
    expect(await service.store.failInterrupted(service.clock.now())).toBe(0)
    const listed = (await service.list()).body.jobs
    const after = await Promise.all(listed.map(async ({ id }) => (await service.get(id)).body))
    expect(after.toReversed()).toEqual(before)
  })
})
