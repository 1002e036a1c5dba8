import { describe, expect, it } from 'vitest'

import { nextEvent, openRequest, restOfEvents, until } from '../helpers/open-request.ts'
import { buildService, numbered } from '../helpers/service.ts'

/** A service that listens, and counts the jobs that are read from its store. */
async function listening() {
  let finds = 0
  const service = await buildService({
    wrapStore: (store) => ({
      ...store,
      find(...which) {
        finds += 1
        return store.find(...which)
      },
    }),
  })
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    service,
    origin,
    finds: () => finds,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

type Service = Awaited<ReturnType<typeof buildService>>

/** Has a job of its own for the caller followed by that many, without sockets; `of` is its path. */
async function followedJob(service: Service, caller: string, count: number) {
  const { body } = await service.submit([caller], caller)
  const follow = (path = '/events', method: 'GET' | 'HEAD' = 'GET') =>
    service.app.inject({ method, url: `/jobs/${body.id}${path}`, headers: { 'x-caller-id': caller } })
  const following = Array.from({ length: count }, (_, which) => follow(which % 2 ? '/events' : '/results?follow=true'))
  await until(() => service.changes.waiters(body.id) === count)
  return { id: body.id, follow, following }
}

describe('the followers of a job', () => {
  it('cost one read of it for each outcome, however many they are', async () => {
    await using server = await listening()
    const { service, origin } = server
    const { body } = await service.submit(numbered(4))
    const streams = await Promise.all(
      Array.from({ length: 200 }, () => openRequest(`${origin}/jobs/${body.id}/events`)),
    )
    await until(() => service.changes.waiters(body.id) === 200)
    for (let idx = 0; idx < 3; idx++) {
      const before = server.finds()
      await service.fetch.next().then((call) => (idx === 1 ? call.fail('timeout') : call.succeed('A')))
      const told = await Promise.all(streams.map(nextEvent))
      expect(new Set(told.map((event) => event?.id))).toEqual(new Set([String(idx + 1)]))
      expect(server.finds() - before).toBe(1)
    }
    const before = server.finds()
    await service.fetch.next().then((call) => call.succeed('A'))
    for (const left of await Promise.all(streams.map(restOfEvents)))
      expect(left.map(({ id }) => id)).toEqual(['4', 'end'])
    expect(server.finds() - before).toBeLessThanOrEqual(2) // The end is announced once more, when the worker is done.
  })

  it('are at most 256 of one caller; others are not in their way', async () => {
    await using service = await buildService()
    const { follow, following } = await followedJob(service, 'alice', 256)
    for (const path of ['/events', '/results?follow=true']) {
      const refused = await follow(path)
      expect(refused.headers['retry-after']).toBe('5')
      expect(refused.json()).toMatchObject({
        status: 503,
        code: 'too_many_followers',
        cap: 'followers_per_caller',
        limit: 256,
        hint: expect.stringContaining('Last-Event-ID'),
      })
    }
    expect((await follow('?view=summary')).json()).toMatchObject({ status: 'running' })
    expect((await follow('/results')).statusCode).toBe(200)
    await followedJob(service, 'bob', 1)
    service.fetch.answer((call) => call.succeed('A'))
    for (const { statusCode } of await Promise.all(following)) expect(statusCode).toBe(200)
    expect((await follow()).statusCode).toBe(200)
  })

  it('are at most 512 in all', async () => {
    await using service = await buildService()
    await followedJob(service, 'alice', 256)
    await followedJob(service, 'bob', 255)
    const { follow } = await followedJob(service, 'carol', 1)
    expect((await follow()).json()).toMatchObject({ code: 'too_many_followers', cap: 'followers_total', limit: 512 })
  })

  it('give their place back when they go away, and requests without a body take none', async () => {
    await using server = await listening()
    const { service, origin } = server
    const { id, follow } = await followedJob(service, 'alice', 255)
    const last = await openRequest(`${origin}/jobs/${id}/events`)
    await until(() => service.changes.waiters(id) === 256)
    expect((await follow()).statusCode).toBe(503)
    last.leave()
    await until(() => service.changes.waiters(id) === 255)
    for (let count = 0; count < 3; count++) {
      expect((await follow('/events', 'HEAD')).statusCode).toBe(200)
      expect((await follow('/results?follow=true', 'HEAD')).statusCode).toBe(200)
    }
    const next = await openRequest(`${origin}/jobs/${id}/events`)
    expect(next.status).toBe(200)
  })

  it('are refused without an error in the log', async () => {
    const lines: string[] = []
    await using service = await buildService({ log: { write: (line) => void lines.push(line) } })
    const { follow } = await followedJob(service, 'alice', 256)
    lines.length = 0
    expect((await follow()).statusCode).toBe(503)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ msg: 'request finished', statusCode: 503 }])
  })
})
