import { EventSource } from 'eventsource'
import { describe, expect, it } from 'vitest'

import { nextEvent, openRequest, restOfEvents, until } from '../helpers/open-request.ts'
import { buildService, numbered } from '../helpers/service.ts'

const alice = { 'x-caller-id': 'alice' }
const TARGETS = 4

/** A service that listens, with a job of `count` targets, and a way to follow its events. */
async function withEvents(count = TARGETS) {
  const service = await buildService()
  const { body } = await service.submit(numbered(count))
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
  const url = `${origin}/jobs/${body.id}/events`
  return {
    service,
    id: body.id,
    url,
    open: (last?: string) => openRequest(url, last === undefined ? {} : { headers: { 'last-event-id': last } }),
    /** Ends the target in flight: those with an odd number fail. */
    async step() {
      const call = await service.fetch.next()
      if (/[13579]\./.test(call.url)) call.fail('timeout')
      else call.succeed(call.url)
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

const MISSPELT = [
  ['GET', '/events?since=1'],
  ['GET', '?views=summary'],
  ['DELETE', '?force=true'],
  ['GET', '/results?form=1'],
  ['GET', '/targets/0?page=1'],
  ['POST', '/retry?reuse=false'],
] as const
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id)

describe('GET /jobs/{id}/events', () => {
  it('sends the header at once, an event for each outcome without its result, then the job, and ends', async () => {
    await using following = await withEvents(2)
    const { service, id } = following
    const stream = await following.open()
    expect(stream).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'private, no-store',
        'x-accel-buffering': 'no',
      },
    })
    await following.step()
    const done = await nextEvent(stream)
    expect(done).toMatchObject({ event: 'target', id: '1' })
    expect(JSON.parse(done?.data ?? '')).toEqual({ idx: 0, url: 'https://t0.example/', status: 'done' })
    await following.step()
    const failed = await nextEvent(stream)
    expect(failed).toMatchObject({ event: 'target', id: '2' })
    expect(JSON.parse(failed?.data ?? '')).toMatchObject({
      idx: 1,
      status: 'failed',
      error: 'timeout',
      hint: 'A hint.',
    })
    const job = await nextEvent(stream)
    expect(job).toMatchObject({ event: 'job', id: 'end' })
    const { targets: _, ...summary } = (await service.get(id)).body
    expect(JSON.parse(job?.data ?? '')).toEqual(summary)
    expect(await restOfEvents(stream)).toEqual([])
  })

  it('resumes a final job after every possible event without a gap or a repeat', async () => {
    await using following = await withEvents()
    for (let count = 0; count < TARGETS; count++) await following.step()
    await following.service.runner.idle()
    const whole = await restOfEvents(await following.open())
    expect(ids(whole)).toEqual(['1', '2', '3', '4', 'end'])
    expect(await restOfEvents(await following.open('0'))).toEqual(whole)
    for (const [position, { id }] of whole.slice(0, -1).entries()) {
      expect(await restOfEvents(await following.open(id))).toEqual(whole.slice(position + 1))
    }
    expect(ids(await restOfEvents(await following.open('9999999')))).toEqual(['end'])
  })

  it('resumes a live job after every possible event without a gap or a repeat', async () => {
    await using following = await withEvents()
    const streams = new Map<string, ReturnType<typeof following.open>>()
    for (let told = 0; told < TARGETS; told++) {
      streams.set(String(told), following.open(String(told)))
      await streams.get(String(told))
      await following.step()
    }
    const resumed = await Promise.all(
      [...streams.values()].map(async (stream) => ids(await restOfEvents(await stream))),
    )
    expect(resumed).toEqual([
      ['1', '2', '3', '4', 'end'],
      ['2', '3', '4', 'end'],
      ['3', '4', 'end'],
      ['4', 'end'],
    ])
  })

  it('answers 204 after the last event, which tells the client to stay away', async () => {
    await using following = await withEvents(1)
    await following.step()
    await following.service.runner.idle()
    const stream = await following.open('end')
    expect(stream.status).toBe(204)
    expect(await stream.rest()).toEqual([])
  })

  it('answers 404 for the job of another caller, also after its last event', async () => {
    await using following = await withEvents()
    for (const last of ['0', 'end']) {
      const headers = { 'x-caller-id': 'mallory', 'last-event-id': last }
      expect((await openRequest(following.url, { headers })).status).toBe(404)
    }
  })

  it('refuses a Last-Event-ID that is none', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    for (const last of ['x', '-1', '1.5', '12345678', 'END', ' ']) {
      const headers = { ...alice, 'last-event-id': last }
      const answer = await service.app.inject({ url: `/jobs/${body.id}/events`, headers })
      expect(answer.json(), last).toMatchObject({ status: 422, code: 'validation_failed' })
    }
  })

  it('tells the outcome of the target in flight of a cancelled job before the job', async () => {
    await using following = await withEvents(2)
    const { service, id } = following
    const inFlight = await service.fetch.next()
    const stream = await following.open()
    await service.cancel(id)
    const late = await following.open()
    const resumed = await following.open('1')
    inFlight.succeed('A')
    for (const follower of [stream, late]) expect(ids(await restOfEvents(follower))).toEqual(['1', 'end'])
    const [end] = await restOfEvents(resumed)
    expect(JSON.parse(end?.data ?? '')).toMatchObject({ status: 'cancelled', targets_done: 1 })
  })

  it('sends a comment after 15 s of silence, and again, and goes on', async () => {
    await using following = await withEvents(1)
    const { service } = following
    await service.fetch.peek()
    const timers = service.clock.waiting
    const stream = await following.open()
    const lines = [await stream.line(), await stream.line()]
    expect(lines).toEqual(['retry: 1000', ''])
    for (let count = 0; count < 3; count++) {
      await until(() => service.clock.waiting === timers + 1)
      service.clock.advance(15_000)
      expect([await stream.line(), await stream.line()]).toEqual([': still here', ''])
    }
    await following.step()
    expect(ids(await restOfEvents(stream))).toEqual(['1', 'end'])
    expect(service.clock.waiting).toBe(timers - 1)
  })

  it('leaves neither a waiter nor a timer behind when the client goes away', async () => {
    await using following = await withEvents()
    const { service, id } = following
    await service.fetch.peek()
    const timers = service.clock.waiting
    const streams = await Promise.all(Array.from({ length: 20 }, () => following.open()))
    await until(() => service.changes.waiters(id) === 20 && service.clock.waiting === timers + 20)
    for (const stream of streams) stream.leave()
    await until(() => service.changes.waiters(id) === 0 && service.clock.waiting === timers)
    await following.step()
    await service.fetch.peek()
    expect((await service.get(id)).body.targets_done).toBe(1)
  })

  it('feeds an EventSource that is cut off again and again each event once, and lets it stop at the end', async () => {
    await using following = await withEvents()
    const { service, url } = following
    const statuses: number[] = []
    const stopped = Promise.withResolvers<void>()
    const source = new EventSource(url, {
      fetch: async (input, init) => {
        const answer = await fetch(input, { ...init, headers: { ...init.headers, ...alice } })
        statuses.push(answer.status)
        return answer
      },
    })
    const seen: string[] = []
    let told = Promise.withResolvers<void>()
    const hear = ({ type, lastEventId }: MessageEvent) => {
      seen.push(`${type} ${lastEventId}`)
      told.resolve()
    }
    source.addEventListener('target', hear)
    source.addEventListener('job', hear)
    source.addEventListener('error', () => {
      if (source.readyState === source.CLOSED) stopped.resolve()
    })
    for (let count = 0; count < 2; count++) {
      told = Promise.withResolvers<void>()
      await following.step()
      await told.promise
      service.app.server.closeAllConnections()
    }
    await following.step()
    await following.step()
    await stopped.promise
    expect(seen).toEqual(['target 1', 'target 2', 'target 3', 'target 4', 'job end'])
    expect(statuses.at(-1)).toBe(204)
  })
})

describe('query parameters', () => {
  it('that a route does not have are refused', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    for (const [method, rest] of MISSPELT) {
      const answer = await service.app.inject({ method, url: `/jobs/${body.id}${rest}`, headers: alice })
      expect(answer.json(), rest).toMatchObject({ status: 422, code: 'validation_failed', errors: [{}] })
    }
    expect((await service.get(body.id)).body.status).toBe('running')
  })

  it('are refused on a submission too, which starts nothing', async () => {
    await using service = await buildService()
    const payload = { targets: [{ url: 'https://a.example/' }] }
    const answer = await service.app.inject({ method: 'POST', url: '/jobs?wait=5', headers: alice, payload })
    expect(answer.json()).toMatchObject({ status: 422, errors: [{ pointer: '/wait' }] })
    expect((await service.list()).body.jobs).toEqual([])
  })
})
