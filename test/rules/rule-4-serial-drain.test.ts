import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { buildService, numbered } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

describe('rule 4: serial drain', () => {
  it('never has two targets of a job in flight, over 8 jobs at once', async () => {
    await using service = await buildService()
    const inFlight = new Map<string, number>()
    const order = new Map<string, string[]>()
    let peak = 0
    service.fetch.answer(({ url, succeed }) => {
      const { host, pathname } = new URL(url)
      const now = (inFlight.get(host) ?? 0) + 1
      inFlight.set(host, now)
      peak = Math.max(peak, now)
      order.set(host, [...(order.get(host) ?? []), pathname])
      setImmediate(() => {
        inFlight.set(host, (inFlight.get(host) ?? 0) - 1)
        succeed(pathname)
      })
    })
    const paths = numbered(32).map((name) => `/${name}`)
    for (const caller of numbered(8)) {
      const urls = paths.map((pathname) => ({ url: `https://${caller}.example${pathname}` }))
      expect((await service.submit({ targets: urls }, caller)).status).toBe(202)
    }
    await service.runner.idle()
    expect(peak).toBe(1)
    expect([...order.values()]).toEqual(numbered(8).map(() => paths))
  })

  it('has each outcome in the file, for a second connection, before the next target starts', async () => {
    using temp = tempFolder()
    await using service = await buildService({ file: temp.file('jobs.db') })
    const reader = new Database(temp.file('jobs.db'), { readonly: true })
    const stored = reader.prepare('SELECT count(*) FROM target WHERE outcome IS NOT NULL').pluck()
    await service.submit(numbered(10))
    for (let idx = 0; idx < 10; idx++) {
      const call = await service.fetch.next()
      expect(stored.get()).toBe(idx)
      if (idx % 2 === 0) call.succeed(`content ${idx}`)
      else call.fail('http_500')
    }
    await service.runner.idle()
    expect(stored.get()).toBe(10)
    reader.close()
  })

  it('goes on after a target that failed', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c'])
    for (const how of ['fail', 'succeed', 'fail'] as const) (await service.fetch.next())[how]('http_404')
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({
      status: 'partial',
      targets_done: 3,
      targets_failed: 2,
      targets: [{ status: 'failed' }, { status: 'done' }, { status: 'failed' }],
    })
  })
})
