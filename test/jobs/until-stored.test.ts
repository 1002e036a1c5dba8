import { setImmediate } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import type { JobStore } from '../../src/jobs/store.ts'
import { untilStored } from '../../src/jobs/until-stored.ts'
import { fakeClock } from '../helpers/fake-clock.ts'
import { buildService, targets } from '../helpers/service.ts'
import { fakeDelivery, webhookAfter } from '../helpers/webhook-sink.ts'

/** A store that refuses something so many times and then does it, and what was told of that. */
function stubborn(refusals: number) {
  const clock = fakeClock()
  const closing = new AbortController()
  const told: unknown[] = []
  const askedAt: number[] = []
  const ask = async () => {
    if (askedAt.push(clock.now()) <= refusals) throw new Error(`refusal ${askedAt.length}`)
    return 'stored'
  }
  const options = { clock, signal: closing.signal, onRefused: (error: unknown) => void told.push(error) }
  return { clock, closing, told, askedAt, stored: untilStored(ask, options) }
}

/** Lets so many seconds pass, each with all that it brings. */
async function passSeconds(clock: { advance(ms: number): void }, count: number): Promise<void> {
  for (let second = 0; second < count; second++) {
    await setImmediate()
    clock.advance(1_000)
  }
  await setImmediate()
}

describe('what the store refuses', () => {
  it('is asked for every second until it is done, and told once', async () => {
    const { clock, told, askedAt, stored } = stubborn(60)
    const startedAt = clock.now()
    await passSeconds(clock, 60)
    expect(await stored).toBe('stored')
    expect(askedAt.map((at) => at - startedAt)).toEqual(Array.from({ length: 61 }, (_, second) => second * 1_000))
    expect(told).toEqual([new Error('refusal 1')])
    expect(clock.waiting).toBe(0)
  })

  it('is asked for no more once the service stops', async () => {
    const { clock, closing, askedAt, stored } = stubborn(60)
    await passSeconds(clock, 2)
    closing.abort(new Error('stopping'))
    await expect(stored).rejects.toThrow('stopping')
    expect(askedAt).toHaveLength(3)
    expect(clock.waiting).toBe(0)
  })

  it('is told once in the log where it is the end of a job that cannot be drained', async () => {
    const lines: string[] = []
    let refusals = 0
    const wrapStore = (store: JobStore): JobStore => ({
      ...store,
      recordOutcome: () => Promise.reject(new Error('disk')),
      fail: (...job) => (++refusals > 60 ? store.fail(...job) : Promise.reject(new Error('disk'))),
    })
    await using service = await buildService({ wrapStore, log: { write: (line) => void lines.push(line) } })
    const { body } = await service.submit(['a'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await passSeconds(service.clock, 30)
    expect(service.runner.isDraining(body.id)).toBe(true)
    await passSeconds(service.clock, 30)
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'failed', error: 'internal' })
    expect(lines.filter((line) => line.includes('ending a job failed'))).toHaveLength(1)
  })

  it('is told once in the log where it is the look for webhooks or an attempt on one', async () => {
    const lines: string[] = []
    const hook = fakeDelivery()
    let looks = 0
    let attempts = 0
    const wrapStore = (store: JobStore): JobStore => ({
      ...store,
      nextWebhook: (...which) => (++looks > 20 ? store.nextWebhook(...which) : Promise.reject(new Error('disk'))),
      recordWebhook: (...attempt) =>
        ++attempts > 20 ? store.recordWebhook(...attempt) : Promise.reject(new Error('disk')),
    })
    const log = { write: (line: string) => void lines.push(line) }
    await using service = await buildService({ webhooks: hook.webhooks, wrapStore, log })
    service.fetch.answer((call) => call.succeed('A'))
    const { body } = await service.submit({ targets: targets('a'), webhook: { url: 'https://hooks.example/' } })
    await passSeconds(service.clock, 20)
    await hook.next().then((attempt) => attempt.answer(200))
    await passSeconds(service.clock, 20)
    expect((await webhookAfter(service, body.id, 1)).state).toBe('delivered')
    expect(attempts).toBe(21)
    for (const message of ['looking for webhooks failed', 'storing an attempt on a webhook failed'])
      expect(lines.filter((line) => line.includes(message))).toHaveLength(1)
  })

  it('does not keep the webhooks from stopping', async () => {
    const hook = fakeDelivery()
    const wrapStore = (store: JobStore): JobStore => ({
      ...store,
      nextWebhook: () => Promise.reject(new Error('disk')),
    })
    const service = await buildService({ webhooks: hook.webhooks, wrapStore })
    await passSeconds(service.clock, 2)
    await service[Symbol.asyncDispose]()
    expect(service.clock.waiting).toBe(0)
  })
})
