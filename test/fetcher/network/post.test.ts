import { createServer, type IncomingMessage } from 'node:http'

import { describe, expect, it } from 'vitest'

import { createOriginGuard } from '../../../src/fetcher/network/origin-guard.ts'
import { rawAnswers, rawServer, serve } from '../../helpers/raw-server.ts'
import { testNetwork } from '../../helpers/test-network.ts'

const never = new AbortController().signal
const message = { headers: { 'content-type': 'text/plain', authorization: 'Bearer k' }, body: 'Grüße' }

describe('a POST', () => {
  it('sends its headers and its body, and gives the answer with its headers', async () => {
    let seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'> = { headers: {} }
    await using server = await serve(
      createServer((request, response) => {
        seen = request
        request.pipe(response.writeHead(201, { 'X-Many': ['a', 'b'], 'Retry-After': '5' }))
      }),
    )
    await using network = testNetwork()
    const answer = await network.post(`${server.origin}/path?q=1`, message, never)
    expect(seen).toMatchObject({ method: 'POST', url: '/path?q=1' })
    expect(seen.headers).toMatchObject({ ...message.headers, 'content-length': '7', 'user-agent': 'pagehaul-test/0' })
    expect(Buffer.from(answer.body).toString()).toBe('Grüße')
    expect(answer).toMatchObject({ status: 201, headers: { 'x-many': 'a, b', 'retry-after': '5' } })
  })

  it.each([301, 302, 303, 307, 308])('does not follow a redirect: %i', async (status) => {
    await using server = await rawAnswers(
      () => `HTTP/1.1 ${status} Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n`,
    )
    await using network = testNetwork()
    expect(await network.post(`${server.origin}/start`, message, never)).toMatchObject({
      status,
      url: `${server.origin}/start`,
    })
  })

  it.each([
    ['http://127.0.0.1/', 'blocked_address'],
    ['http://127.0.0.2:22/', 'blocked_port'],
    ['ftp://127.0.0.2/', 'invalid_url'],
  ])('passes the guard: %s', async (url, code) => {
    await using network = testNetwork()
    await expect(network.post(url, message, never)).rejects.toMatchObject({ code })
  })

  it('is bounded in what it takes', async () => {
    await using server = await rawAnswers(() => `HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n${'x'.repeat(11)}`)
    await using network = testNetwork({ bodyBytesMax: 10 })
    await expect(network.post(server.origin, message, never)).rejects.toMatchObject({ code: 'too_large' })
  })

  it('ends with its signal', async () => {
    const reason = new Error('The deadline has passed.')
    const controller = new AbortController()
    await using server = await rawServer((socket) => socket.once('data', () => controller.abort(reason)))
    await using network = testNetwork()
    await expect(network.post(server.origin, message, controller.signal)).rejects.toBe(reason)
    await server.idle()
  })
})

describe('a guard for one service', () => {
  const site = () => rawAnswers(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', { host: '127.0.0.1' })
  const zone = {
    'service.internal': ['127.0.0.1'],
    'meta.internal': ['169.254.169.254'],
    'six.internal': ['::ffff:127.0.0.1'],
  }

  it('lets it be on this machine', async () => {
    await using server = await site()
    await using network = testNetwork({ guard: createOriginGuard(server.origin) })
    expect(await network.text(`${server.origin}/any/path?x`)).toBe('ok')
  })

  it('lets it be at a local name', async () => {
    await using server = await site()
    const origin = `http://service.internal:${server.port}`
    await using network = testNetwork({ guard: createOriginGuard(origin), zone })
    expect(await network.text(origin)).toBe('ok')
  })

  it('lets nothing else pass', async () => {
    await using server = await site()
    await using network = testNetwork({ guard: createOriginGuard(server.origin), zone })
    for (const url of [
      `https://127.0.0.1:${server.port}/`,
      'http://127.0.0.1/',
      `http://127.0.0.2:${server.port}/`,
      `http://service.internal:${server.port}/`,
      'https://example.com/',
    ]) {
      expect((await network.refusal(url)).code).toBe('blocked_address')
    }
    expect((await network.refusal(`http://user:pass@127.0.0.1:${server.port}/`)).code).toBe('invalid_url')
    expect(server.connections).toBe(0)
  })

  it.each([
    'http://169.254.169.254',
    'http://[fd00:ec2::254]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://metadata.google.internal',
    'http://meta.internal',
    'http://six.internal',
  ])('never reaches a metadata service, nor an address that hides another: %s', async (origin) => {
    await using network = testNetwork({ guard: createOriginGuard(origin), zone })
    expect((await network.refusal(`${origin}/`)).code).toBe('blocked_address')
  })
})
