import { setImmediate } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import { AppError, type ErrorCode } from '../../src/errors.ts'
import type { Outcome } from '../../src/jobs/fetch-target.ts'
import type { JobStore } from '../../src/jobs/store.ts'
import { buildService } from '../helpers/service.ts'

const PATIENCE_MS = 300_000

describe('an outcome that the store refuses', () => {
  it.each(['storage_full', 'storage_unavailable'] as const)(
    'is kept and tried again with growing pauses, and the job goes on (%s)',
    async (code) => {
      const faults = refusing(code)
      await using service = await buildService(faults)
      const { body } = await service.submit(['a', 'b'])
      await service.fetch.next().then((call) => call.succeed('A'))
      const startedAt = service.clock.now()
      await pass(service.clock, 120_000)
      expect(faults.tries.map((at) => (at - startedAt) / 1_000)).toEqual([0, 1, 3, 7, 15, 31, 61, 91])
      expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets_done: 0 })
      expect(service.fetch.waiting).toBe(0) // The next target waits for this one.

      faults.refuses = () => false
      await pass(service.clock, 30_000)
      await service.fetch.next().then((call) => call.succeed('B'))
      await service.runner.idle()
      expect((await service.get(body.id)).body).toMatchObject({
        status: 'done',
        targets: [{ result: { content: 'A' } }, { result: { content: 'B' } }],
      })
    },
  )

  it('for lack of room becomes a failure of its target after five minutes, and the next ones at once', async () => {
    const faults = refusing('storage_full', isLarge)
    await using service = await buildService(faults)
    const { body } = await service.submit(['a', 'b', 'c', 'd', 'e'])
    const next = async (content: string) => (await service.fetch.next()).succeed(content)
    await next('large')
    await pass(service.clock, PATIENCE_MS + 30_000)
    await next('large') // The time stands still from here on.
    await next('small')
    await next('large')
    const { body: waiting } = await service.get(body.id)
    expect(waiting.targets).toMatchObject([
      { error: 'no_room', message: expect.stringContaining('no room'), hint: expect.any(String) },
      { error: 'no_room' },
      { status: 'done' },
      { status: 'pending' }, // There was room for a smaller one, so that this one is given its time again.
      { status: 'pending' },
    ])
    faults.refuses = () => false
    await pass(service.clock, 1_000)
    await next('large')
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'partial', targets_failed: 2 })
  })

  it('stays the failure that it is, even when contents have found no room', async () => {
    const faults = refusing('storage_full')
    await using service = await buildService(faults)
    const { body } = await service.submit(['a', 'b', 'c', 'd'])
    faults.refuses = isLarge
    await service.fetch.next().then((call) => call.succeed('large'))
    await pass(service.clock, PATIENCE_MS + 30_000)
    const gone = await service.fetch.next()
    faults.refuses = () => true
    gone.fail('http_404')
    await pass(service.clock, 60_000)
    expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets_done: 1 })
    faults.refuses = isLarge
    await pass(service.clock, 30_000)
    await service.fetch.next().then((call) => call.succeed('large')) // A failure says nothing of the room for it.
    await service.fetch.next().then((call) => call.succeed('small'))
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({
      status: 'partial',
      targets: [{ error: 'no_room' }, { error: 'http_404' }, { error: 'no_room' }, { status: 'done' }],
    })
  })

  it('for lack of room is given its time although a failure before it had to wait', async () => {
    const faults = refusing('storage_full')
    await using service = await buildService(faults)
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.fail('http_404'))
    await pass(service.clock, 1_000)
    faults.refuses = isLarge
    await pass(service.clock, 2_000)
    const large = await service.fetch.next()
    await pass(service.clock, 50_000)
    large.succeed('large')
    await pass(service.clock, PATIENCE_MS - 30_000)
    expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets_done: 1 })
    faults.refuses = () => false
    await pass(service.clock, 30_000)
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'partial', targets_failed: 1 })
  })

  it('ends its job if nothing at all can be stored for that long, as soon as that can be', async () => {
    const faults = refusing('storage_unavailable')
    await using service = await buildService(faults)
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await pass(service.clock, PATIENCE_MS + 30_000)
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'failed', error: 'internal', targets_done: 0 })
    expect((await service.submit(['c'])).status).toBe(202)
  })

  it('leaves its job free to be cancelled, and is stored after that', async () => {
    const faults = refusing('storage_full')
    await using service = await buildService(faults)
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await pass(service.clock, 2_000)
    expect((await service.cancel(body.id)).body).toMatchObject({ status: 'cancelled', targets_done: 0 })
    faults.refuses = () => false
    await pass(service.clock, 30_000)
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({
      status: 'cancelled',
      targets: [{ status: 'done' }, { status: 'pending' }],
    })
  })

  it.each([
    ['takes', false, [{ status: 'done' }, { status: 'pending' }]],
    ['refuses', true, [{ status: 'pending' }, { status: 'pending' }]],
  ])('is tried a last time when the grace of a stop is over, whether the store %s it', async (_what, still, stored) => {
    const faults = refusing('storage_full')
    await using service = await buildService(faults)
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await pass(service.clock, 60_000) // The next try is 30 s away.
    const closed = service.runner.close(10_000)
    faults.refuses = () => still
    service.clock.advance(10_000)
    await closed
    expect(service.fetch.waiting).toBe(0)
    expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets: stored })
  })
})

/** A store that refuses outcomes, all or those that `refuses` names, and knows when it did. */
function refusing(code: ErrorCode, refuses: (outcome: Outcome) => boolean = () => true) {
  const faults = {
    /** When outcomes were to be stored. */
    tries: [] as number[],
    refuses,
    wrapStore: (store: JobStore): JobStore => ({
      ...store,
      async recordOutcome(id, idx, outcome, at, expiresAt) {
        faults.tries.push(at)
        if (faults.refuses(outcome)) throw new AppError(code, 'Refused.')
        return store.recordOutcome(id, idx, outcome, at, expiresAt)
      },
    }),
  }
  return faults
}

const isLarge = (outcome: Outcome) => 'result' in outcome && outcome.result.content === 'large'

/** Moves the clock second by second, so that whatever falls due is done before the next second. */
async function pass(clock: { advance(ms: number): void }, ms: number): Promise<void> {
  for (let passed = 0; passed <= ms; passed += 1_000) {
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    if (passed < ms) clock.advance(1_000)
  }
}
