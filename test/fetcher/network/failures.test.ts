import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { TARGET_ERRORS } from '../../../src/jobs/target-error.ts'
import { rawAnswers, rawServer, serve } from '../../helpers/raw-server.ts'
import { slowZone, testNetwork } from '../../helpers/test-network.ts'

/** Milliseconds for a connection: longer than any test takes, so that only the abort can have ended an attempt. */
const CONNECT_MS = 600_000

describe('an abort', () => {
  // With a code that would be the server's fault if it came from the network.
  const reason = Object.assign(new Error('The deadline has passed.'), { code: 'ETIMEDOUT' })

  it.each([
    ['a server that says nothing', ''],
    ['a header that does not end', 'HTTP/1.1 200 OK\r\nX-Wait: '],
    ['a body that does not start', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'],
    ['a body that does not end', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['chunks that do not end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ['the page of a failure that does not end', 'HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nabc'],
  ])('ends %s with its reason, and the connection', async (_, bytes) => {
    const controller = new AbortController()
    await using server = await rawServer((socket) => {
      socket.once('data', () => socket.write(bytes, () => setImmediate(() => controller.abort(reason))))
    })
    await using network = testNetwork()
    await expect(network.get(server.origin, controller.signal)).rejects.toBe(reason)
    await server.idle()
  })

  it('ends a drip, which no other limit would', async () => {
    const controller = new AbortController()
    let bytes = 0
    await using server = await rawServer((socket) => {
      const drip = () => {
        bytes += 1
        if (bytes === 50) controller.abort(reason)
        if (!socket.destroyed) socket.write('x', () => setImmediate(drip))
      }
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n', drip))
    })
    await using network = testNetwork()
    await expect(network.get(server.origin, controller.signal)).rejects.toBe(reason)
    await server.idle()
  })

  it('ends a look-up that gets no answer', async () => {
    const controller = new AbortController()
    const zone = {
      'slow.example': () => {
        setImmediate(() => controller.abort(reason))
        return new Promise<never>(() => undefined)
      },
    }
    await using network = testNetwork({ zone })
    await expect(network.get('http://slow.example/', controller.signal)).rejects.toBe(reason)
  })

  it('ends a TLS handshake, and the connection', async () => {
    const controller = new AbortController()
    await using server = await rawServer((socket) => socket.once('data', () => controller.abort(reason)))
    await using network = testNetwork({ connectMsMax: CONNECT_MS })
    await expect(network.get(`https://127.0.0.2:${server.port}/`, controller.signal)).rejects.toBe(reason)
    await server.idle()
  })

  it('while a name is looked up leaves nothing of the attempt to the next request, nor to the server', async () => {
    const controller = new AbortController()
    const { zone, late } = slowZone(() => controller.abort(reason))
    await using server = await rawAnswers(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    await using network = testNetwork({ connectMsMax: CONNECT_MS, zone })
    const url = `http://slow.example:${server.port}/`
    await expect(network.get(url, controller.signal)).rejects.toBe(reason)
    expect(await network.text(url)).toBe('ok')
    late.resolve(['127.0.0.2'])
    expect(await network.text(url)).toBe('ok')
    expect(server.connections).toBe(1)
  })

  it('ends a chain of redirects', async () => {
    const controller = new AbortController()
    await using server = await rawAnswers((head) => {
      if (!head.startsWith('GET / ')) controller.abort(reason)
      return 'HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n'
    })
    await using network = testNetwork()
    await expect(network.get(server.origin, controller.signal)).rejects.toBe(reason)
  })

  it('that came before lets nothing start', async () => {
    await using server = await rawServer(() => undefined)
    await using network = testNetwork()
    await expect(network.get(server.origin, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(server.connections).toBe(0)
  })
})

describe('a connection that breaks off', () => {
  const cut: Record<string, (socket: Socket) => void> = {
    closes: (socket) => socket.end(),
    'is reset': (socket) => socket.resetAndDestroy(),
  }
  const stages: Record<string, string> = {
    'before the answer': '',
    'in the status line': 'HTTP/1.1 20',
    'in the header': 'HTTP/1.1 200 OK\r\nContent-',
    'before the body': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n',
    'in the body': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc',
    'in a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nabc',
    'between chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
    'before the last line of chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n',
    'in a compressed body': 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f\x8b\x08',
  }
  const table = Object.keys(stages).flatMap((stage) => Object.keys(cut).map((how) => [how, stage] as const))

  it.each(table)('%s %s', async (how, stage) => {
    await using server = await rawServer((socket) => {
      socket.once('data', () => socket.write(Buffer.from(stages[stage] ?? '', 'latin1'), () => cut[how]?.(socket)))
    })
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('connection_closed')
  })

  it('is reset as soon as it is open', async () => {
    await using server = await rawServer((socket) => socket.resetAndDestroy())
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('connection_closed')
  })

  it('ends a body that has no length, which is how such a body ends', async () => {
    await using server = await rawAnswers((_head, socket) => {
      setImmediate(() => socket.end())
      return 'HTTP/1.0 200 OK\r\n\r\nabc'
    })
    await using network = testNetwork()
    expect(await network.text(server.origin)).toBe('abc')
  })
})

describe('an answer that is not HTTP', () => {
  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a page without a header', '<html><body>Hello</body></html>\r\n\r\n'],
    ['binary noise', '\x00\x01\x02\xff\xfe\r\n\r\n'],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a chunk without a length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n'],
    ['one long header', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['many headers', `HTTP/1.1 200 OK\r\n${'X-Many: abcdefghijklmnopqrstuvwxyz\r\n'.repeat(2_000)}\r\n`],
    ['many cookies', `HTTP/1.1 200 OK\r\n${'Set-Cookie: abcdefghijklmnopqrstuvwxyz=1\r\n'.repeat(2_000)}\r\n`],
    ['a header without end', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(200_000)}`],
  ])('%s', async (_, bytes) => {
    await using server = await rawAnswers(() => Buffer.from(bytes, 'latin1'))
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('bad_response')
    await server.idle()
  })

  it('is taken with what bends the rules and is common', async () => {
    await using server = await rawAnswers(
      () =>
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200\r\nX-Latin: caf\xe9\r\nContent-Length: 2\r\n\r\nok',
    )
    await using network = testNetwork()
    expect(await network.text(server.origin)).toBe('ok')
  })
})

describe('a server that is not there', () => {
  it('refuses the connection', async () => {
    const server = await rawServer(() => undefined)
    await server[Symbol.asyncDispose]()
    await using network = testNetwork({ zone: { 'down.example': ['127.0.0.2', '127.0.0.3'] } })
    for (const host of ['127.0.0.2', 'down.example']) {
      const { code, message } = await network.refusal(`http://${host}:${server.port}/`)
      expect({ code, message }).toEqual({ code: 'connect_refused', message: 'The server refused the connection.' })
    }
  })

  it('does not end the handshake in time', async () => {
    await using server = await rawServer(() => undefined)
    await using network = testNetwork({ connectMsMax: 1, zone: { 'silent.example': ['127.0.0.2'] } })
    const { code, message } = await network.refusal(`https://silent.example:${server.port}/`)
    expect({ code, message }).toEqual({
      code: 'connect_timeout',
      message: 'The server did not accept a connection in time.',
    })
  })

  it.each([
    ['ENOTFOUND', 'dns_not_found'],
    ['ENODATA', 'dns_not_found'],
    ['EAI_AGAIN', 'dns_failure'],
    ['ESERVFAIL', 'dns_failure'],
    ['EREFUSED', 'dns_failure'],
    ['ETIMEOUT', 'dns_failure'],
  ])('has a name of which the resolver says %s', async (code, expected) => {
    const zone = { 'name.example': () => Promise.reject(Object.assign(new Error('queryA 10.9.8.7'), { code })) }
    await using network = testNetwork({ zone })
    const refusal = await network.refusal('http://name.example/')
    expect(refusal.code).toBe(expected)
    expect(refusal.message).not.toContain('10.9.8.7')
  })

  it('has a name without an address', async () => {
    await using network = testNetwork({ zone: { 'name.example': [] } })
    expect((await network.refusal('http://name.example/')).code).toBe('dns_not_found')
  })

  it('has a name that is not found in time', async () => {
    const zone = { 'slow.example': () => new Promise<never>(() => undefined) }
    await using network = testNetwork({ zone, connectMsMax: 1 })
    expect((await network.refusal('http://slow.example/')).code).toBe('dns_failure')
  })
})

const file = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8')

describe('TLS', () => {
  const ca = file('ca')
  const zone = { 'good.test': ['127.0.0.2'], 'bad.test': ['127.0.0.2'] }
  const secure = (name: string) =>
    serve(
      createHttpsServer({ cert: file(name), key: file(`${name}-key`) }, (_request, response) => response.end('safe')),
    )

  it.each(['good.test', 'good.test.', 'GOOD.test', '127.0.0.2'])('works: %s', async (host) => {
    await using server = await secure('good')
    await using network = testNetwork({ zone: { ...zone, 'good.test.': ['127.0.0.2'] }, ca })
    expect(await network.text(`https://${host}:${server.port}/`)).toBe('safe')
  })

  it('greets with the name as certificates have it, without a dot at the end', async () => {
    const names: string[] = []
    const options = { cert: file('good'), key: file('good-key') }
    const context = createSecureContext(options)
    const SNICallback = (name: string, done: (error: null, context: SecureContext) => void) => {
      names.push(name)
      done(null, context)
    }
    await using server = await serve(
      createHttpsServer({ ...options, SNICallback }, (_request, response) => response.end()),
    )
    await using network = testNetwork({ zone: { 'good.test.': ['127.0.0.2'] }, ca })
    await network.get(`https://good.test.:${server.port}/`)
    expect(names).toEqual(['good.test'])
  })

  it.each([
    ['expired', 'good.test', 'tls_expired'],
    ['self-signed', 'good.test', 'tls_untrusted'],
    ['good', 'bad.test', 'tls_wrong_host'],
  ])('refuses a certificate that is %s for %s', async (name, host, code) => {
    await using server = await secure(name)
    await using network = testNetwork({ zone, ca })
    const refusal = await network.refusal(`https://${host}:${server.port}/`)
    expect(refusal.code).toBe(code)
    expect(refusal.message).not.toContain('127.0.0.2')
  })

  it('refuses such a certificate also where the environment of Node would take any', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    await using server = await secure('self-signed')
    await using network = testNetwork({ zone, ca })
    expect((await network.refusal(`https://good.test:${server.port}/`)).code).toBe('tls_untrusted')
  })

  it('refuses an authority that nobody knows', async () => {
    await using server = await secure('good')
    await using network = testNetwork({ zone })
    expect((await network.refusal(`https://good.test:${server.port}/`)).code).toBe('tls_untrusted')
  })

  it('fails on a port that speaks plain HTTP', async () => {
    await using plain = await rawServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    )
    await using network = testNetwork()
    expect((await network.refusal(`https://127.0.0.2:${plain.port}/`)).code).toBe('tls_failed')
  })

  it('is told from plain HTTP to its port', async () => {
    await using server = await secure('good')
    await using network = testNetwork()
    expect((await network.refusal(`http://127.0.0.2:${server.port}/`)).code).toBe('connection_closed')
  })
})

it('has a hint for every failure', () => {
  for (const { hint } of Object.values(TARGET_ERRORS)) expect(hint).toMatch(/\S\.$/)
})
