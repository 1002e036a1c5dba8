import { describe, expect, it } from 'vitest'

import { openRequest, until } from '../helpers/open-request.ts'
import { buildService, numbered } from '../helpers/service.ts'

/** More than the system takes for a client that does not read. */
const OUTCOME_BYTES = 16_000_000

interface Line {
  readonly msg: string
  readonly route?: string
  readonly statusCode?: number
  readonly aborted?: boolean
}

/** A service that listens, what it logs of requests, and what it counts. */
async function logging(options: Parameters<typeof buildService>[0] = {}) {
  const lines: Line[] = []
  const log = { write: (text: string) => void lines.push(JSON.parse(text) as Line) }
  const service = await buildService({ ...options, log })
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    service,
    origin,
    /** Every line of a request to the route, once there is one. */
    async of(route: string) {
      const found = () => lines.filter((line) => line.route === route && line.msg === 'request finished')
      await until(() => found().length > 0)
      await service.list() // Whatever else comes has had time to.
      return found()
    },
    failures: () => lines.filter(({ msg }) => msg === 'request failed'),
    async count(route: string, status: string) {
      const { body } = await service.app.inject('/metrics')
      return new RegExp(`http_requests_total\\{method="GET",route="${route}",status="${status}"\\} (\\d+)`).exec(
        body,
      )?.[1]
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

describe('a request whose client goes away', () => {
  it('before there is an answer has one line that says so, and no status', async () => {
    await using server = await logging()
    const { service, origin } = server
    const { body } = await service.submit(['a'])
    const leaving = new AbortController()
    const headers = { 'x-caller-id': 'alice', prefer: 'wait=50' }
    const answer = fetch(`${origin}/jobs/${body.id}`, { headers, signal: leaving.signal })
    await until(() => service.changes.waiters(body.id) === 1)
    leaving.abort()
    await expect(answer).rejects.toThrow('aborted')
    const lines = await server.of('/jobs/:id')
    expect(lines).toMatchObject([{ aborted: true, durationMs: expect.any(Number) }])
    expect(lines[0]).not.toHaveProperty('statusCode')
    expect(await server.count('/jobs/:id', 'aborted')).toBe('1')
    expect(await server.count('/jobs/:id', '200')).toBeUndefined()
  })

  it.each(['/events', '/results?follow=true', '/results', '', '/targets/0'])(
    'in the middle of %s has one line that says so, with the status that was sent',
    async (path) => {
      await using server = await logging()
      const { service, origin } = server
      const { body } = await service.submit(['a', 'b'])
      await service.fetch.next().then((call) => call.succeed('x'.repeat(OUTCOME_BYTES)))
      await service.fetch.peek()
      const answer = await openRequest(`${origin}/jobs/${body.id}${path}`)
      answer.leave()
      const [name = ''] = path.split('?')
      const route = `/jobs/:id${name.replace('0', ':idx')}`
      expect(await server.of(route)).toMatchObject([{ statusCode: 200, aborted: true }])
      expect(await server.count(route, '200')).toBe('1')
      expect(server.failures()).toEqual([])
    },
  )
})

describe('a request that is answered', () => {
  it('has one line that says nothing of that, on a connection that stays and on one that does not', async () => {
    await using server = await logging()
    const { service, origin } = server
    service.fetch.answer((call) => call.succeed('A'))
    const { body } = await service.submit(['a'])
    await service.runner.idle()
    const headers = { 'x-caller-id': 'alice' }
    for (const connection of ['close', 'keep-alive']) {
      await (await openRequest(`${origin}/jobs/${body.id}/events`, { headers: { connection } })).rest()
      await (await fetch(`${origin}/jobs/${body.id}/results`, { headers })).text()
    }
    for (const route of ['/jobs/:id/events', '/jobs/:id/results']) {
      const lines = await server.of(route)
      expect(lines).toMatchObject([{ statusCode: 200 }, { statusCode: 200 }])
      for (const line of lines) expect(line).not.toHaveProperty('aborted')
    }
  })

  it('and then cut off by a fault of the service has a line of that, too', async () => {
    await using server = await logging({
      wrapStore: (store) => ({
        ...store,
        readOutcome: (id, idx) =>
          idx < 2 ? store.readOutcome(id, idx) : Promise.reject(new Error('the disk is gone')),
      }),
    })
    const { service, origin } = server
    service.fetch.answer((call) => call.succeed('x'.repeat(100_000)))
    const { body } = await service.submit(numbered(3))
    await service.runner.idle()
    const answer = await openRequest(`${origin}/jobs/${body.id}`)
    await expect(answer.text()).rejects.toThrow('aborted')
    expect(await server.of('/jobs/:id')).toMatchObject([{ statusCode: 200, aborted: true }])
    expect(server.failures()).toMatchObject([{ err: { message: expect.stringContaining('the disk is gone') } }])
  })
})
