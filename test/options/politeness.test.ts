import type { IncomingMessage, ServerResponse } from 'node:http'

import { expect, it } from 'vitest'

import { serve } from '../helpers/serve.ts'
import { wholeService } from '../helpers/whole-service.ts'

const GAP_MS = 40

/** A server whose answers are watched: when each begins and ends, and how many are under way. */
async function watched(answer: (request: IncomingMessage, response: ServerResponse, hit: number) => void) {
  const hits: { path: string; startedAt: number; endedAt: number }[] = []
  let open = 0
  let openMax = 0
  const route = (request: IncomingMessage, response: ServerResponse) => {
    const hit = { path: request.url ?? '', startedAt: performance.now(), endedAt: 0 }
    hits.push(hit)
    open += 1
    openMax = Math.max(openMax, open)
    response.once('finish', () => {
      open -= 1
      hit.endedAt = performance.now()
    })
    answer(request, response, hits.length)
  }
  const paths = Array.from({ length: 12 }, (_, n) => `/p${n}`)
  const server = await serve(Object.fromEntries([...paths, '/end'].map((path) => [path, route])))
  return {
    hits,
    origin: server.origin,
    port: server.port,
    get openMax() {
      return openMax
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const page = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/plain' }).end('A page.')

it('asks a host one thing at a time and with a gap, over all jobs and callers, redirects included', async () => {
  await using server = await watched(({ url }, response) => {
    if (url === '/p3') response.writeHead(302, { location: '/end' }).end()
    else setImmediate(() => page(response))
  })
  await using service = await wholeService({ hostGapMs: GAP_MS })
  const targets = (from: number) => [0, 1, 2].map((n) => ({ url: `${server.origin}/p${from + n}` }))
  const jobs = await Promise.all(
    ['alice', 'bob', 'carol'].map(async (caller, n) => {
      const { body } = await service.submit({ targets: targets(n * 3) }, caller)
      return { caller, id: body.id }
    }),
  )
  await service.runner.idle()
  for (const { caller, id } of jobs) expect((await service.get(id, caller)).body.status).toBe('done')
  expect(server.hits).toHaveLength(10)
  expect(server.openMax).toBe(1)
  for (const [n, hit] of server.hits.entries()) {
    const before = server.hits[n - 1]
    // A timer of Node may fire up to a millisecond early.
    if (before) expect(hit.startedAt - before.endedAt).toBeGreaterThan(GAP_MS - 3)
  }
})

it('does not keep a host waiting for another host', async () => {
  const held = Promise.withResolvers<ServerResponse>()
  await using slow = await serve({ '/': (_request, response) => held.resolve(response) })
  await using fast = await serve({ '/': { type: 'text/plain', body: 'A page.' } })
  await using service = await wholeService({ zone: { 'slow.example': ['127.0.0.2'], 'fast.example': ['127.0.0.2'] } })
  const waiting = await service.submit({ targets: [{ url: `http://slow.example:${slow.port}/` }] }, 'alice')
  const response = await held.promise
  const { body } = await service.submit({ targets: [{ url: `http://fast.example:${fast.port}/` }] }, 'bob')
  const ended = await service.app.inject({
    url: `/jobs/${body.id}`,
    headers: { 'x-caller-id': 'bob', prefer: 'wait=50' },
  })
  expect(ended.json()).toMatchObject({ status: 'done' })
  expect((await service.get(waiting.body.id)).body.status).toBe('running')
  page(response)
  await service.runner.idle()
})

it('tries again what may pass, and tells how often', async () => {
  await using server = await watched(({ url }, response, hit) => {
    if (url === '/p0') return hit < 3 ? response.writeHead(503).end() : page(response)
    if (url === '/p1') return response.writeHead(500, { 'content-type': 'text/html' }).end('<p>Out of order.</p>')
    if (url === '/p2') return response.writeHead(404).end()
    return response.socket?.destroy()
  })
  await using service = await wholeService()
  const urls = ['/p0', '/p1', '/p2', '/p3'].map((path) => ({ url: server.origin + path }))
  const [passed, failed, gone, cut] = await service.outcomes(urls)
  expect(passed?.result?.meta.attempts).toBe(3)
  expect(failed).toMatchObject({
    error: 'http_500',
    message: 'The server answered 500 Internal Server Error (tried 3 times).',
  })
  expect(gone).toMatchObject({ error: 'http_404', message: 'The server answered 404 Not Found.' })
  expect(cut).toMatchObject({ error: 'connection_closed', message: expect.stringMatching(/\(tried 3 times\)\.$/) })
  expect(server.hits.map(({ path }) => path).join(' ')).toBe('/p0 /p0 /p0 /p1 /p1 /p1 /p2 /p3 /p3 /p3')
})

it('fails the targets of a host that wants to be left alone for long, whoever asks next, without asking it again', async () => {
  await using server = await watched((_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end())
  await using service = await wholeService({ targetTimeoutMs: 10_000 })
  const targetOf = async (path: string, caller: string) => {
    const { body } = await service.submit({ targets: [{ url: server.origin + path }] }, caller)
    await service.runner.idle()
    return (await service.get(body.id, caller)).body.targets[0]
  }
  expect(await targetOf('/p0', 'alice')).toMatchObject({
    error: 'http_429',
    message: 'The server answered 429 Too Many Requests.',
  })
  for (const caller of ['alice', 'bob']) {
    expect(await targetOf('/p1', caller)).toMatchObject({
      error: 'http_429',
      message: expect.stringContaining('is left alone for another'),
    })
  }
  expect(server.hits).toHaveLength(1)
})
