import { once } from 'node:events'
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect } from 'node:net'

import { describe, expect, it } from 'vitest'

import type { TargetView } from '../../src/jobs/schema.ts'
import { type OpenAnswer, openRequest, restOfEvents, until } from '../helpers/open-request.ts'
import { buildService, numbered } from '../helpers/service.ts'

const OUTCOME_BYTES = 3_000_000
const alice = { 'x-caller-id': 'alice' }

/** Another caller, who reads something. */
async function bob(origin: string): Promise<OpenAnswer> {
  const answer = await openRequest(`${origin}/jobs`, { headers: { 'x-caller-id': 'bob' } })
  await answer.rest()
  return answer
}

/** A service that listens, and counts the outcomes that are read from its store. */
async function listening(caps: Parameters<typeof buildService>[0] = {}) {
  let reads = 0
  const service = await buildService({
    ...caps,
    wrapStore: (store) => ({
      ...store,
      readOutcome(...which) {
        reads += 1
        return store.readOutcome(...which)
      },
    }),
  })
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    service,
    origin,
    reads: () => reads,
    /** A finished job of `count` targets, each as large as told. */
    async finishedJob(count: number, bytes: number) {
      service.fetch.answer((call) => call.succeed('x'.repeat(bytes)))
      const { body } = await service.submit(numbered(count))
      await service.runner.idle()
      return body.id
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

describe('HEAD', () => {
  it.each(['', '/results', '/results?follow=true', '/events', '/targets/0'])(
    'of %s is answered at once, reads no outcome, and leaves the connection as it should be',
    async (path) => {
      await using server = await listening()
      const { service, origin } = server
      const { body } = await service.submit(['a', 'b'])
      await service.fetch.next().then((call) => call.succeed('A'))
      await service.fetch.peek()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const ask = (method: string, rest: string) =>
        new Promise<string>((resolve, reject) => {
          request(`${origin}/jobs/${body.id}${rest}`, { method, agent, headers: alice }, (answer: IncomingMessage) => {
            answer.toArray().then((chunks) => resolve(Buffer.concat(chunks as Buffer[]).toString()), reject)
          })
            .on('error', reject)
            .end()
        })
      expect(await ask('HEAD', path)).toBe('')
      expect(server.reads()).toBe(0)
      expect(JSON.parse(await ask('GET', '?view=summary'))).toMatchObject({ id: body.id, status: 'running' })
      expect(service.changes.waiters(body.id)).toBe(0)
      agent.destroy()
    },
  )
})

describe('a request without a body', () => {
  it.each([
    { kind: 'a type', headers: { 'content-type': 'application/json' } },
    { kind: 'a type and no length', headers: { 'content-type': 'application/json', 'content-length': 0 } },
    {
      kind: "what curl -d '' sends",
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 0 },
    },
    { kind: 'the type of a list', headers: { 'content-type': 'text/uri-list' } },
    { kind: 'a type and no chunks', headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' } },
    { kind: 'no chunks', headers: { 'transfer-encoding': 'chunked' } },
    { kind: 'no length', headers: { 'content-length': 0 } },
    { kind: 'nothing', headers: {} },
  ])('cancels and retries with $kind', async ({ headers }) => {
    await using server = await listening()
    const { service, origin } = server
    const { body } = await service.submit(['a', 'b'])
    const inFlight = await service.fetch.next()
    const cancelled = await openRequest(`${origin}/jobs/${body.id}`, { method: 'DELETE', headers })
    expect(cancelled.status).toBe(200)
    expect(JSON.parse(await cancelled.text())).toMatchObject({ status: 'cancelled' })
    inFlight.succeed('A')
    await service.runner.idle()
    const retried = await openRequest(`${origin}/jobs/${body.id}/retry`, { method: 'POST', headers })
    expect(retried.status).toBe(202)
    expect(JSON.parse(await retried.text())).toMatchObject({ retry_of: body.id })
  })
})

describe('the length of a body', () => {
  it('is told if it is small, and the body comes in pieces if it is large', async () => {
    await using server = await listening()
    const { service, origin } = server
    await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('small'))
    await service.fetch.next().then((call) => call.succeed('x'.repeat(OUTCOME_BYTES)))
    await service.runner.idle()
    const { id } = (await service.list()).body.jobs[0] ?? { id: '' }
    for (const path of ['?view=summary', '/targets/0', '/results?from=2']) {
      const answer = await openRequest(`${origin}/jobs/${id}${path}`)
      const text = await answer.text()
      expect(answer.headers, path).toMatchObject({ 'content-length': String(text.length) })
    }
    for (const path of ['', '/targets/1', '/results']) {
      const answer = await openRequest(`${origin}/jobs/${id}${path}`)
      expect(answer.headers, path).toMatchObject({ 'transfer-encoding': 'chunked' })
      expect((await answer.text()).length).toBeGreaterThan(OUTCOME_BYTES)
    }
  })
})

describe('a DELETE with a body', () => {
  it.each(['application/json', 'text/uri-list', 'text/plain', undefined])(
    'of type %s cancels, whatever is in it',
    async (type) => {
      await using server = await listening()
      const { body } = await server.service.submit(['a'])
      const headers = { 'content-length': 3, ...(type && { 'content-type': type }) }
      const answer = await openRequest(`${server.origin}/jobs/${body.id}`, { method: 'DELETE', headers, body: '{x}' })
      expect(answer.status).toBe(200)
      expect(JSON.parse(await answer.text())).toMatchObject({ status: 'cancelled' })
    },
  )
})

describe('a client that stops reading in the middle of 32 results of 3 MB', () => {
  it('holds less than two of them in memory, others are served, and it gets the rest when it goes on', async () => {
    await using server = await listening()
    const { service, origin } = server
    const id = await server.finishedJob(32, OUTCOME_BYTES)
    const others = async () => {
      for (let count = 0; count < 50; count++) expect((await bob(origin)).status).toBe(200)
    }
    for (const path of ['', '/results', '/results?follow=true']) {
      const readsBefore = server.reads()
      const answered = Promise.withResolvers<ServerResponse>()
      service.app.server.once('request', (_, response) => answered.resolve(response))
      const socket = connect(Number(new URL(origin).port), '127.0.0.1').pause()
      socket.write(
        `GET /jobs/${id}${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Caller-Id: alice\r\nConnection: close\r\n\r\n`,
      )
      const answer = await answered.promise
      await until(() => answer.writableNeedDrain)
      await others() // The system's own buffers are full now.
      const stalledAt = server.reads()
      await others()
      expect(server.reads()).toBe(stalledAt)
      expect(stalledAt - readsBefore).toBeLessThan(16)
      expect(answer.writableLength).toBeLessThan(2 * OUTCOME_BYTES)

      let bytes = 0
      for await (const chunk of socket) bytes += (chunk as Buffer).length
      expect(bytes).toBeGreaterThan(32 * OUTCOME_BYTES)
      expect(server.reads() - readsBefore).toBe(32)
    }
  }, 60_000)

  it('has nothing read for it any more when it goes away', async () => {
    await using server = await listening()
    const { service, origin } = server
    const id = await server.finishedJob(32, OUTCOME_BYTES)
    const answered = Promise.withResolvers<ServerResponse>()
    service.app.server.once('request', (_, response) => answered.resolve(response))
    const answer = await openRequest(`${origin}/jobs/${id}/results`)
    const closed = once(await answered.promise, 'close')
    await answer.line()
    answer.leave()
    await closed
    const leftAt = server.reads()
    for (let count = 0; count < 50; count++) await bob(origin)
    expect(server.reads()).toBeLessThanOrEqual(leftAt + 1) // One may have been asked for just before.
    expect(leftAt).toBeLessThan(16)
  })
})

describe('200 followers that read nothing', () => {
  it('hold up neither the job nor others, and then get every outcome once, in order', async () => {
    await using server = await listening()
    const { service, origin } = server
    const names = numbered(6)
    const { body } = await service.submit(names)
    const open = (rest: string) =>
      Promise.all(Array.from({ length: 100 }, () => openRequest(`${origin}/jobs/${body.id}${rest}`)))
    const lines = await open('/results?follow=true')
    const events = await open('/events')
    await until(() => service.changes.waiters(body.id) === 200)

    service.fetch.answer((call) => call.succeed(call.url.repeat(2_000)))
    await service.runner.idle()
    expect((await service.submit(['x'], 'bob')).status).toBe(202)
    const job = (await service.get(body.id)).body
    expect(job).toMatchObject({ status: 'done', targets_done: 6 })

    const readLines = async (stream: OpenAnswer) => (await stream.rest()).map((line) => JSON.parse(line) as TargetView)
    for (const told of await Promise.all(lines.map(readLines))) expect(told).toEqual(job.targets)
    for (const told of await Promise.all(events.map(restOfEvents))) {
      expect(told.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6', 'end'])
    }
    expect(service.changes.waiters(body.id)).toBe(0)
  })
})
