import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { inspect } from 'node:util'

import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

import { createEgressProxy } from '../../../src/fetcher/network/egress-proxy.ts'
import { answering, type ProxyAct, serveProxy } from '../../helpers/connect-proxy.ts'
import { rawServer, serve } from '../../helpers/raw-server.ts'
import { slowZone, testNetwork } from '../../helpers/test-network.ts'

const tls = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8')
const ca = tls('ca')

const site = (answer: RequestListener = (_, response) => response.end('page'), host = '127.0.0.2') =>
  serve(createServer(answer), { host })

const secureSite = (cert: string) =>
  serve(createHttpsServer({ cert: tls(cert), key: tls(`${cert}-key`) }, (_, response) => response.end('secret page')))

/** The network behind a proxy. */
const through = (proxy: { readonly url: string }, options: Parameters<typeof testNetwork>[0] = {}) =>
  testNetwork({ proxy: createEgressProxy(proxy.url), ...options })

describe('behind a proxy', () => {
  it('a page of plain HTTP takes a tunnel, too, to the address that was checked', async () => {
    await using server = await site((request, response) => response.end(request.headers.host))
    await using proxy = await serveProxy()
    await using network = through(proxy, { zone: { 'site.example': ['127.0.0.2'] } })
    expect(await network.text(`http://site.example:${server.port}/`)).toBe(`site.example:${server.port}`)
    expect(proxy.asked).toEqual([`127.0.0.2:${server.port}`])
    expect(proxy.headers[0]?.host).toBe(`127.0.0.2:${server.port}`)
    expect(proxy.forwarded).toEqual([])
  })

  it('TLS is spoken inside, with the host and its certificate', async () => {
    await using server = await secureSite('good')
    await using proxy = await serveProxy()
    await using network = through(proxy, { ca, zone: { 'good.test': ['127.0.0.2'], 'other.test': ['127.0.0.2'] } })
    expect(await network.text(`https://good.test:${server.port}/`)).toBe('secret page')
    expect(await network.text(`https://127.0.0.2:${server.port}/`)).toBe('secret page')
    expect((await network.refusal(`https://other.test:${server.port}/`)).code).toBe('tls_wrong_host')
    expect(new Set(proxy.asked)).toEqual(new Set([`127.0.0.2:${server.port}`]))
  })

  it.each([
    ['expired', 'tls_expired'],
    ['self-signed', 'tls_untrusted'],
  ])('a certificate that is %s is refused all the same', async (cert, code) => {
    await using server = await secureSite(cert)
    await using proxy = await serveProxy()
    await using network = through(proxy, { ca })
    expect((await network.refusal(`https://127.0.0.2:${server.port}/`)).code).toBe(code)
    await server.idle()
  })

  it('an address of IPv6 is asked for in brackets', async () => {
    await using proxy = await serveProxy(() => answering('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    await using network = through(proxy)
    expect((await network.refusal('http://[2606:2800:220:1::1]/')).code).toBe('unreachable')
    expect((await network.refusal('https://[2606:2800:220:1::1]/')).code).toBe('unreachable')
    expect(proxy.asked).toEqual(['[2606:2800:220:1::1]:80', '[2606:2800:220:1::1]:443'])
  })

  it('a tunnel is used again, and closed with the network', async () => {
    await using server = await site()
    await using proxy = await serveProxy()
    const network = through(proxy)
    await network.get(server.origin)
    await network.get(server.origin)
    expect(proxy.asked).toHaveLength(1)
    await network.close()
    await Promise.all([server.idle(), proxy.idle()])
  })

  it('a tunnel outlives the time that there is to open it', async () => {
    const deadline = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal)
    await using server = await site((_, response) => {
      deadline.abort(new Error('The time is over.'))
      response.end('page')
    })
    await using proxy = await serveProxy()
    await using network = through(proxy)
    expect(await network.text(server.origin)).toBe('page')
  })
})

describe('what the guard refuses is never asked of the proxy', () => {
  it.each([
    ['http://127.0.0.1/', 'blocked_address'],
    ['http://[::1]/', 'blocked_address'],
    ['http://169.254.169.254/', 'blocked_address'],
    ['http://inside.example/', 'blocked_address'],
    ['https://mixed.example/', 'blocked_address'],
    ['http://localhost/', 'blocked_address'],
    ['http://nowhere.example/', 'dns_not_found'],
    ['http://127.0.0.2:22/', 'blocked_port'],
  ])('%s: %s', async (url, code) => {
    await using proxy = await serveProxy()
    await using network = through(proxy, {
      zone: { 'inside.example': ['10.0.0.7'], 'mixed.example': ['127.0.0.2', '10.0.0.7'], localhost: ['127.0.0.1'] },
    })
    expect((await network.refusal(url)).code).toBe(code)
    expect(proxy.connections).toBe(0)
  })

  it('a name whose answer changes', async () => {
    await using server = await site((_, response) => response.writeHead(200, { connection: 'close' }).end('page'))
    await using proxy = await serveProxy()
    const answers = [['127.0.0.2'], ['127.0.0.1']]
    await using network = through(proxy, { zone: { 'rebind.example': () => answers.shift() ?? [] } })
    const url = `http://rebind.example:${server.port}/`
    expect(await network.text(url)).toBe('page')
    expect((await network.refusal(url)).code).toBe('blocked_address')
    expect(proxy.asked).toEqual([`127.0.0.2:${server.port}`])
  })

  it('a redirect to it', async () => {
    const location = 'http://169.254.169.254/latest/meta-data/'
    await using server = await site((_, response) => response.writeHead(302, { location }).end())
    await using proxy = await serveProxy()
    await using network = through(proxy)
    expect((await network.refusal(server.origin)).code).toBe('blocked_address')
    expect(proxy.asked).toEqual([`127.0.0.2:${server.port}`])
  })
})

describe('a proxy that fails', () => {
  const long = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`

  it.each<[name: string, act: ProxyAct, code: string, message: string]>([
    [
      'wants other credentials',
      answering('HTTP/1.1 407 x\r\n\r\n'),
      'unreachable',
      'answered 407 Proxy Authentication Required',
    ],
    ['forbids', answering('HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\nNope'), 'unreachable', 'answered 403 Forbidden'],
    ['finds no way', answering('HTTP/1.1 502 Bad\r\n\r\n'), 'unreachable', 'answered 502 Bad Gateway'],
    [
      'redirects',
      answering('HTTP/1.1 302 x\r\nLocation: http://127.0.0.1/\r\n\r\n'),
      'unreachable',
      'answered 302 Found',
    ],
    ['goes on', answering('HTTP/1.1 100 Continue\r\n\r\n'), 'unreachable', 'answered 100 Continue'],
    [
      'switches',
      answering('HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'unreachable',
      'answered 101 Switching Protocols',
    ],
    [
      'answers garbage',
      answering('SSH-2.0-OpenSSH_9.6\r\n'),
      'unreachable',
      'did not answer with valid HTTP, or with too long a header',
    ],
    ['answers at length', answering(long), 'unreachable', 'did not answer with valid HTTP, or with too long a header'],
    ['closes', (socket) => socket.end(), 'unreachable', 'closed the connection'],
    ['closes in its answer', (socket) => socket.end('HTTP/1.1 200 OK\r\nX-'), 'unreachable', 'closed the connection'],
    ['resets', (socket) => socket.resetAndDestroy(), 'unreachable', 'closed the connection'],
    [
      'says more than its answer',
      answering('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'),
      'unreachable',
      'sent more than its answer',
    ],
    ['says nothing', () => undefined, 'connect_timeout', 'did not open a connection in time'],
    [
      'does not end its answer',
      answering('HTTP/1.1 200 OK\r\n'),
      'connect_timeout',
      'did not open a connection in time',
    ],
  ])('%s', async (_, act, code, what) => {
    await using server = await site()
    await using proxy = await serveProxy(() => act)
    await using network = through(proxy, { connectMsMax: 300 })
    for (const url of [server.origin, server.origin.replace('http:', 'https:')]) {
      const { message, hint, ...refusal } = await network.refusal(url)
      expect({ ...refusal, message }).toMatchObject({ code, message: `The egress proxy ${what}.` })
      expect(hint).toContain('PAGEHAUL_EGRESS_PROXY')
    }
    await proxy.idle()
    expect(server.connections).toBe(0)
  })

  it('answers anything at all costs no more than the target', async () => {
    const starts = [
      '',
      'HTTP/1.1 200 OK',
      'HTTP/1.1 200 OK\r\n\r\n',
      'HTTP/1.1 407 x\r\n\r\n',
      'HTTP/1.1 200 OK\r\nA: ',
      '\x16\x03\x03',
    ]
    let answer = Buffer.alloc(0)
    await using proxy = await rawServer((socket) => socket.once('data', () => socket.end(answer)), {
      host: '127.0.0.1',
    })
    await using network = through({ url: proxy.origin })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...starts),
        fc.uint8Array({ maxLength: 64 }),
        fc.constantFrom('http', 'https'),
        async (start, bytes, scheme) => {
          answer = Buffer.concat([Buffer.from(start, 'latin1'), bytes])
          const { code } = await network.refusal(`${scheme}://127.0.0.2/`)
          expect(['unreachable', 'connection_closed']).toContain(code)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is not there', async () => {
    await using server = await site()
    const proxy = await serveProxy()
    await proxy[Symbol.asyncDispose]()
    await using network = through(proxy)
    expect(await network.refusal(server.origin)).toMatchObject({
      code: 'unreachable',
      message: 'The egress proxy cannot be reached.',
    })
    expect(server.connections).toBe(0)
  })

  it('for one address is asked for the next one', async () => {
    await using server = await site(undefined, '127.0.0.3')
    await using proxy = await serveProxy((authority) =>
      authority.startsWith('127.0.0.2:') ? answering('HTTP/1.1 503 Unavailable\r\n\r\n') : undefined,
    )
    await using network = through(proxy, { zone: { 'two.example': ['127.0.0.2', '127.0.0.3'] } })
    expect(await network.text(`http://two.example:${server.port}/`)).toBe('page')
    expect(proxy.asked).toEqual([`127.0.0.2:${server.port}`, `127.0.0.3:${server.port}`])
  })

  it('keeps silent in the handshake of TLS inside', async () => {
    await using server = await rawServer((socket) => socket.resume())
    await using proxy = await serveProxy()
    await using network = through(proxy, { connectMsMax: 300 })
    expect((await network.refusal(`https://127.0.0.2:${server.port}/`)).code).toBe('connect_timeout')
    await Promise.all([server.idle(), proxy.idle()])
  })

  it('resets a tunnel that is open', async () => {
    await using proxy = await serveProxy(() => (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.once('data', () => socket.resetAndDestroy())
    })
    await using network = through(proxy)
    for (const url of ['http://127.0.0.2/', 'https://127.0.0.2/']) {
      expect((await network.refusal(url)).code).toBe('connection_closed')
    }
  })
})

describe('an abort', () => {
  const reason = new Error('The deadline has passed.')
  /** Longer than any test takes, so that only the abort can have ended an attempt. */
  const connectMsMax = 600_000

  it('ends the wait for a proxy that says nothing', async () => {
    const controller = new AbortController()
    await using proxy = await serveProxy(() => () => controller.abort(reason))
    await using network = through(proxy, { connectMsMax })
    await expect(network.get('http://127.0.0.2/', controller.signal)).rejects.toBe(reason)
    await proxy.idle()
  })

  it('ends a handshake of TLS inside, and the tunnel', async () => {
    const controller = new AbortController()
    await using server = await rawServer((socket) => socket.once('data', () => controller.abort(reason)))
    await using proxy = await serveProxy()
    await using network = through(proxy, { connectMsMax })
    await expect(network.get(`https://127.0.0.2:${server.port}/`, controller.signal)).rejects.toBe(reason)
    await Promise.all([server.idle(), proxy.idle()])
  })

  it('while a name is looked up leaves nothing of the attempt to the next request, nor to the proxy', async () => {
    const controller = new AbortController()
    const { zone, late } = slowZone(() => controller.abort(reason))
    await using server = await site()
    await using proxy = await serveProxy()
    await using network = through(proxy, { connectMsMax, zone })
    const url = `http://slow.example:${server.port}/`
    await expect(network.get(url, controller.signal)).rejects.toBe(reason)
    expect(await network.text(url)).toBe('page')
    late.resolve(['127.0.0.2'])
    expect(await network.text(url)).toBe('page')
    expect(proxy.connections).toBe(1)
  })

  it('comes with `close`, for what is not open yet', async () => {
    const asked = Promise.withResolvers<void>()
    await using proxy = await serveProxy(() => () => asked.resolve())
    const network = through(proxy)
    const request = network.get('http://127.0.0.2/')
    request.catch(() => undefined)
    await asked.promise
    await network.close()
    await proxy.idle()
    await expect(request).rejects.toThrow(/./)
  })

  it('comes with the end of the time for a look-up', async () => {
    await using proxy = await serveProxy()
    const zone = { 'slow.example': () => new Promise<never>(() => undefined) }
    await using network = through(proxy, { connectMsMax: 100, zone })
    expect(await network.refusal('http://slow.example/')).toMatchObject({
      code: 'dns_failure',
      message: 'The name server did not answer in time.',
    })
    expect(proxy.connections).toBe(0)
  })
})

describe('credentials', () => {
  it('go to the proxy, decoded', async () => {
    await using server = await site((request, response) => response.end(JSON.stringify(request.headers)))
    await using proxy = await serveProxy()
    const url = proxy.url.replace('//', '//us%65r:p%40ss%3Aw%C3%B6rd@')
    await using network = through({ url })
    expect(await network.text(server.origin)).not.toContain('authorization')
    expect(proxy.headers[0]).toMatchObject({
      'proxy-authorization': `Basic ${Buffer.from('user:p@ss:wörd').toString('base64')}`,
    })
  })

  it('are not sent where there are none', async () => {
    await using server = await site()
    await using proxy = await serveProxy()
    await using network = through(proxy)
    await network.get(server.origin)
    expect(proxy.headers[0]).not.toHaveProperty('proxy-authorization')
  })

  it.each<[name: string, act: ProxyAct]>([
    ['refuses', answering('HTTP/1.1 407 x\r\n\r\n')],
    ['answers garbage', answering('x\r\n\r\n')],
    ['closes', (socket) => socket.end()],
    ['says nothing', () => undefined],
  ])('appear in no error, whatever its causes, of a proxy that %s', async (_, act) => {
    await using proxy = await serveProxy(() => act)
    await using network = through({ url: proxy.url.replace('//', '//name:pass-word@') }, { connectMsMax: 300 })
    const told = inspect(await network.refusal('http://127.0.0.2/'), { depth: Infinity, showHidden: true })
    expect(told).toContain('The egress proxy')
    expect(told).not.toMatch(new RegExp(`pass-word|${Buffer.from('name:pass-word').toString('base64')}`))
  })
})
