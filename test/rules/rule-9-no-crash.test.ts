import { setImmediate } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import type { JobStore } from '../../src/jobs/store.ts'
import { buildService, TARGET_TIMEOUT_MS } from '../helpers/service.ts'

describe('rule 9: nothing can crash the process', () => {
  it.each<[string, unknown]>([
    ['an error', new Error('boom')],
    ['no error at all', undefined],
    ['a string', 'boom'],
  ])('makes a fetch that rejects with %s the outcome of its target, and goes on', async (_what, reason) => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.reject(reason))
    await service.fetch.next().then((call) => call.succeed('B'))
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({
      status: 'partial',
      targets: [{ error: 'internal', message: expect.any(String), hint: expect.any(String) }, { status: 'done' }],
    })
  })

  it('makes a synchronous throw the outcome of its target', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => {
      if (call.url.includes('bad')) throw new Error('boom')
      call.succeed('fine')
    })
    const { body } = await service.submit(['bad', 'good'])
    await service.runner.idle()
    expect((await service.get(body.id)).body.targets).toMatchObject([{ error: 'internal' }, { status: 'done' }])
  })

  it('fails a target that never settles at its deadline, tells it to stop, and goes on', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['slow', 'b'])
    const slow = await service.fetch.next()
    service.clock.advance(TARGET_TIMEOUT_MS - 1)
    expect(slow.signal.aborted).toBe(false)
    expect((await service.get(body.id)).body.targets_done).toBe(0)
    service.clock.advance(1)
    const second = await service.fetch.next()
    expect(slow.signal.aborted).toBe(true)
    expect((await service.get(body.id)).body.targets[0]).toMatchObject({ status: 'failed', error: 'timeout' })
    slow.reject(new Error('too late'))
    second.succeed('B')
    await service.runner.idle()
    expect((await service.get(body.id)).body.status).toBe('partial')
  })

  it('ends a job whose outcome cannot be stored, and frees the slot of its caller', async () => {
    await using service = await buildService({
      wrapStore: (store) => ({ ...store, recordOutcome: () => Promise.reject(new Error('disk')) }),
    })
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await service.runner.idle()
    const job = (await service.get(body.id)).body
    expect(job).toMatchObject({ status: 'failed', error: 'internal', targets_done: 0 })
    expect(job.finished_at).toBeDefined()
    expect((await service.submit(['c'])).status).toBe(202)
  })

  it('goes on trying to end such a job until the store takes it', async () => {
    const refusals = [1, 2, 3]
    const refused: (() => void)[] = []
    const wrapStore = (store: JobStore): JobStore => ({
      ...store,
      recordOutcome: () => Promise.reject(new Error('disk')),
      async fail(id, at) {
        if (refusals.shift() === undefined) return store.fail(id, at)
        refused.shift()?.()
        throw new Error('disk')
      },
    })
    await using service = await buildService({ wrapStore })
    const { body } = await service.submit(['a'])
    for (let round = 0; round < 3; round++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      refused.push(resolve)
      if (round === 0) await service.fetch.next().then((call) => call.succeed('A'))
      await promise
      await setImmediate() // The runner waits by the clock now.
      service.clock.advance(1_000)
    }
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'failed', error: 'internal' })
  })

  it('gives targets in flight their grace at a stop, stores them, and starts no other', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    const call = await service.fetch.next()
    const closed = service.runner.close(10_000)
    service.clock.advance(9_999)
    expect(call.signal.aborted).toBe(false)
    call.succeed('A')
    await closed
    expect(service.fetch.waiting).toBe(0)
    expect((await service.get(body.id)).body).toMatchObject({
      status: 'running',
      targets: [{ status: 'done' }, { status: 'pending' }],
    })
  })

  it('aborts a target that outlasts the grace, and stores nothing of it', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    const call = await service.fetch.next()
    const closed = service.runner.close(10_000)
    service.clock.advance(10_000)
    await closed
    expect(call.signal.aborted).toBe(true)
    expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets_done: 0 })
  })
})
