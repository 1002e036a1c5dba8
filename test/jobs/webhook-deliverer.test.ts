import { describe, expect, it } from 'vitest'

import type { JobStore } from '../../src/jobs/store.ts'
import { WEBHOOK_RETRIES_MS } from '../../src/jobs/webhook-schedule.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { buildService, numbered, targets } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { fakeDelivery, opened, webhookAfter } from '../helpers/webhook-sink.ts'

const URL = 'https://hooks.example/pagehaul'
const ATTEMPT_MS_MAX = 15_000

type Service = Awaited<ReturnType<typeof buildService>>

/** Submits a job with a webhook and returns its id. */
async function submit(service: Service, names: readonly string[], caller = 'alice'): Promise<string> {
  const { status, body } = await service.submit({ targets: targets(...names), webhook: { url: URL } }, caller)
  expect(status).toBe(202)
  return body.id
}

describe('a webhook', () => {
  it('is told of the end of its job, and of nothing before', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    const id = await submit(service, ['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'))
    const second = await service.fetch.next()
    expect((await service.get(id)).body.webhook).toEqual({ url: URL, state: 'pending', attempts: 0 })
    expect(hook.waiting).toBe(0)
    service.clock.advance(2_000)
    second.fail('http_404')
    const attempt = await hook.next()
    expect(attempt.url).toBe(URL)
    expect(attempt.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^msg_[0-9a-f-]{36}$/),
      'webhook-timestamp': String(Date.parse('2026-01-01T00:00:02Z') / 1_000),
    })
    expect(opened(attempt)).toEqual({
      type: 'job.finished',
      timestamp: '2026-01-01T00:00:02.000Z',
      data: {
        id,
        status: 'partial',
        targets_total: 2,
        targets_done: 2,
        targets_failed: 1,
        created_at: '2026-01-01T00:00:00.000Z',
        started_at: '2026-01-01T00:00:00.000Z',
        finished_at: '2026-01-01T00:00:02.000Z',
        expires_at: '2026-01-02T00:00:02.000Z',
        url: `/jobs/${id}`,
      },
    })
    attempt.answer(204)
    expect(await webhookAfter(service, id, 1)).toEqual({ url: URL, state: 'delivered', attempts: 1 })
  })

  it.each([
    ['https://pagehaul.example.com', 'https://pagehaul.example.com/jobs/'],
    ['https://example.com/tools/pagehaul/', 'https://example.com/tools/pagehaul/jobs/'],
  ])('links to the job below %s', async (publicUrl, link) => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: { ...hook.webhooks, publicUrl } })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    expect(opened(await hook.next()).data.url).toBe(link + id)
  })

  it('of a cancelled job waits for the target in flight, so that what it tells stays true', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    const id = await submit(service, ['a', 'b'])
    const inFlight = await service.fetch.next()
    await service.cancel(id)
    const other = await submit(service, ['c'], 'bob')
    await service.fetch.next().then((call) => call.succeed('C'))
    expect(opened(await hook.next()).data.id).toBe(other)
    expect(hook.waiting).toBe(0)
    inFlight.succeed('A')
    expect(opened(await hook.next()).data).toMatchObject({ id, status: 'cancelled', targets_done: 1 })
  })

  it('is told of a job that the service could not finish', async () => {
    const hook = fakeDelivery()
    const wrapStore = (store: JobStore): JobStore => ({
      ...store,
      recordOutcome: () => Promise.reject(new Error('the disk is gone')),
    })
    await using service = await buildService({ webhooks: hook.webhooks, wrapStore })
    const id = await submit(service, ['a'])
    await service.fetch.next().then((call) => call.succeed('A'))
    expect(opened(await hook.next()).data).toMatchObject({ id, status: 'failed', error: 'internal' })
  })

  it('is told after a restart of a job that the last process left live', async () => {
    using temp = tempFolder()
    const hook = fakeDelivery()
    const options = { file: temp.file('jobs.db'), webhooks: hook.webhooks }
    const dead = await buildService(options)
    const id = await submit(dead, ['a'])
    await dead[Symbol.asyncDispose]()
    const store = openSqliteStore(options.file)
    expect(await store.failInterrupted(dead.clock.now())).toBe(1)
    await store.close()
    await using service = await buildService(options)
    const attempt = await hook.next()
    expect(opened(attempt).data).toMatchObject({ id, status: 'failed', error: 'restart' })
    attempt.answer(200)
    expect((await webhookAfter(service, id, 1)).state).toBe('delivered')
  })

  it('goes along with a retry of its job, under an id of its own', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.fail('http_500'))
    const id = await submit(service, ['a'])
    const first = await hook.next()
    first.answer(200)
    await webhookAfter(service, id, 1)
    await service.app.inject({ method: 'POST', url: `/jobs/${id}/retry`, headers: { 'x-caller-id': 'alice' } })
    const second = await hook.next()
    expect(opened(second).data).toMatchObject({ retry_of: id })
    expect(second.headers['webhook-id']).not.toBe(first.headers['webhook-id'])
  })
})

describe('an attempt that fails', () => {
  it('is made again under the same id with the same body and a new signature, by the schedule, until one succeeds', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    const first = await hook.next()
    first.answer(503)
    const webhook = { url: URL, state: 'pending', attempts: 1, last_error: 'http_503: The server answered 503.' }
    expect(await webhookAfter(service, id, 1)).toEqual(webhook)
    service.clock.advance(WEBHOOK_RETRIES_MS[0])
    const second = await hook.next()
    expect(opened(second)).toEqual(opened(first))
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
    expect(second.headers['webhook-timestamp']).not.toBe(first.headers['webhook-timestamp'])
    second.fail('connect_refused')
    expect(await webhookAfter(service, id, 2)).toMatchObject({
      state: 'pending',
      last_error: 'connect_refused: It failed.',
    })
    service.clock.advance(WEBHOOK_RETRIES_MS[1])
    await hook.next().then((attempt) => attempt.answer(200))
    expect(await webhookAfter(service, id, 3)).toEqual({ url: URL, state: 'delivered', attempts: 3 })
  })

  it('is given up after the last of the schedule', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    for (const [index, pauseMs] of WEBHOOK_RETRIES_MS.entries()) {
      await hook.next().then((attempt) => attempt.answer(500))
      expect((await webhookAfter(service, id, index + 1)).state).toBe('pending')
      service.clock.advance(pauseMs)
    }
    await hook.next().then((attempt) => attempt.answer(500))
    expect(await webhookAfter(service, id, 8)).toMatchObject({ state: 'failed', attempts: 8 })
    expect(await service.store.nextWebhook({ exceptJobs: [], exceptCallers: [] })).toBeUndefined()
  })

  it('is the last one if the receiver says that it is gone', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    await hook.next().then((attempt) => attempt.answer(410))
    expect(await webhookAfter(service, id, 1)).toMatchObject({ state: 'failed', attempts: 1 })
    expect(await service.store.nextWebhook({ exceptJobs: [], exceptCallers: [] })).toBeUndefined()
  })

  it('may fail by a bug, too', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    await hook.next().then((attempt) => attempt.reject(new TypeError('secret of the code')))
    const lastError = 'internal: The service failed on this webhook.'
    expect(await webhookAfter(service, id, 1)).toMatchObject({ state: 'pending', last_error: lastError })
  })

  it('is not made again while the store cannot take how it went', async () => {
    const hook = fakeDelivery()
    const refused = Promise.withResolvers<void>()
    let refusals = 0
    const wrapStore = (store: JobStore): JobStore => ({
      ...store,
      recordWebhook: (...attempt) => {
        if (++refusals > 3) return store.recordWebhook(...attempt)
        refused.resolve()
        return Promise.reject(new Error('the disk is full'))
      },
    })
    await using service = await buildService({ webhooks: hook.webhooks, wrapStore })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    await hook.next().then((attempt) => attempt.answer(200))
    await refused.promise
    for (let second = 0; second < 5; second++) {
      await service.get(id)
      service.clock.advance(1_000)
    }
    expect(await webhookAfter(service, id, 1)).toMatchObject({ state: 'delivered', attempts: 1 })
    expect({ refusals, waiting: hook.waiting }).toEqual({ refusals: 4, waiting: 0 })
  })

  it('goes on after a restart where it was, under the same id', async () => {
    using temp = tempFolder()
    const hook = fakeDelivery()
    const options = { file: temp.file('jobs.db'), webhooks: hook.webhooks }
    const before = await buildService(options)
    before.fetch.answer((call) => call.succeed('A'))
    const id = await submit(before, ['a'])
    const first = await hook.next()
    first.answer(500)
    await webhookAfter(before, id, 1)
    before.clock.advance(WEBHOOK_RETRIES_MS[0])
    const cutOff = await hook.next()
    await before[Symbol.asyncDispose]()
    expect(cutOff.signal.aborted).toBe(true)

    await using after = await buildService(options) // Its clock starts where that of `before` did.
    expect((await after.get(id)).body.webhook).toMatchObject({ state: 'pending', attempts: 1 })
    expect(hook.waiting).toBe(0)
    after.clock.advance(WEBHOOK_RETRIES_MS[0])
    const again = await hook.next()
    expect(again.headers['webhook-id']).toBe(first.headers['webhook-id'])
    again.answer(200)
    expect(await webhookAfter(after, id, 2)).toEqual({ url: URL, state: 'delivered', attempts: 2 })
  })
})

describe('a clock that was set back', () => {
  it('lets the webhooks be looked at every minute, however far off the next attempt is', async () => {
    const hook = fakeDelivery()
    let looked = Promise.withResolvers<void>()
    const wrapStore = (store: JobStore): JobStore => ({
      ...store,
      nextWebhook: (filter) => {
        looked.resolve()
        return store.nextWebhook(filter)
      },
    })
    await using service = await buildService({ webhooks: hook.webhooks, wrapStore })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    await hook.next().then((attempt) => attempt.answer(503))
    await webhookAfter(service, id, 1)

    const YEAR_MS = 31_536_000_000
    service.clock.advance(-YEAR_MS)
    service.changes.announce(id)
    await service.get(id)
    looked = Promise.withResolvers()
    service.clock.advance(60_000)
    await looked.promise
    expect(hook.waiting).toBe(0)
    service.clock.advance(YEAR_MS)
    await hook.next().then((attempt) => attempt.answer(200))
    expect((await webhookAfter(service, id, 2)).state).toBe('delivered')
  })
})

describe('a receiver that hangs', () => {
  it('is left after 15 s, and tried again', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const id = await submit(service, ['a'])
    const attempt = await hook.next()
    service.clock.advance(ATTEMPT_MS_MAX - 1)
    expect(attempt.signal.aborted).toBe(false)
    service.clock.advance(1)
    const lastError = 'timeout: The server did not answer within 15 s.'
    expect(await webhookAfter(service, id, 1)).toMatchObject({ state: 'pending', last_error: lastError })
    expect(attempt.signal.aborted).toBe(true)
    service.clock.advance(WEBHOOK_RETRIES_MS[0])
    expect(opened(await hook.next())).toEqual(opened(attempt))
  })

  it('holds up neither jobs nor the end of the service', async () => {
    const hook = fakeDelivery()
    const service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    await submit(service, ['a'])
    const attempt = await hook.next()
    const { body } = await service.submit(['b'])
    await service.runner.idle()
    expect((await service.get(body.id)).body.status).toBe('done')
    await service[Symbol.asyncDispose]()
    expect(attempt.signal.aborted).toBe(true)
  })

  it('takes one of four places, and the next webhook takes it when it is free', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const ids = await Promise.all(numbered(6).map((caller) => submit(service, ['a'], caller)))
    await service.runner.idle()
    const attempts = await Promise.all([hook.next(), hook.next(), hook.next(), hook.next()])
    for (const id of ids) await service.get(id)
    expect(hook.waiting).toBe(0)
    attempts[2].answer(200)
    attempts.push(await hook.next())
    for (const id of ids) await service.get(id)
    expect(hook.waiting).toBe(0)
    attempts[0].answer(200)
    attempts.push(await hook.next())
    expect(attempts.map((attempt) => opened(attempt).data.id).toSorted()).toEqual(ids.toSorted())
  })

  it('leaves places to the receivers of other callers', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks, jobsPerCallerMax: 9 })
    service.fetch.answer((call) => call.succeed('A'))
    const hanging = await Promise.all(numbered(5).map((name) => submit(service, [name])))
    await service.runner.idle()
    const held = await Promise.all([hook.next(), hook.next()])
    for (const id of hanging) await service.get(id)
    expect(hook.waiting).toBe(0)
    const other = await submit(service, ['a'], 'bob')
    expect(opened(await hook.next()).data.id).toBe(other)
    held[1].answer(200)
    expect(hanging).toContain(opened(await hook.next()).data.id)
  })
})
