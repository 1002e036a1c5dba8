import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { promisify } from 'node:util'

import { describe, expect, it } from 'vitest'

import { createConnector } from '../../../src/fetcher/network/connector.ts'
import { createGuard, type Guard } from '../../../src/fetcher/network/guard.ts'
import { TargetError } from '../../../src/jobs/target-error.ts'
import { rawAnswers, rawServer, serve } from '../../helpers/raw-server.ts'
import { ALLOWED, testNetwork } from '../../helpers/test-network.ts'

const site = (host: string, port?: number, headers: Record<string, string> = {}) =>
  serve(
    createServer((_request, response) => response.writeHead(200, headers).end(host)),
    { host, ...(port === undefined ? {} : { port }) },
  )

describe('what a name resolves to', () => {
  it('is asked for once per connection, so that a second answer cannot change it', async () => {
    await using server = await site('127.0.0.2', undefined, { connection: 'close' })
    await using denied = await site('127.0.0.1', server.port)
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2']]
    await using network = testNetwork({ zone: { 'rebind.example': () => answers.shift() ?? [] } })
    const url = `http://rebind.example:${server.port}/`
    expect(await network.text(url)).toBe('127.0.0.2')
    expect(network.lookups).toHaveLength(1)
    expect((await network.refusal(url)).code).toBe('blocked_address')
    expect(network.lookups).toHaveLength(2)
    expect(await network.text(url)).toBe('127.0.0.2')
    expect(network.lookups).toHaveLength(3)
    expect({ allowed: server.connections, denied: denied.connections }).toEqual({ allowed: 2, denied: 0 })
  })

  it.each([
    [['127.0.0.2', '127.0.0.1']],
    [['127.0.0.1', '127.0.0.2']],
    [['127.0.0.2', '::1']],
    [['127.0.0.2', '::ffff:127.0.0.2']],
  ])('is refused as a whole for one denied address: %j', async (addresses) => {
    await using server = await site('127.0.0.2')
    await using denied = await site('127.0.0.1', server.port)
    await using network = testNetwork({ zone: { 'mixed.example': addresses } })
    const { code, message } = await network.refusal(`http://mixed.example:${server.port}/`)
    expect(code).toBe('blocked_address')
    expect(message).toMatch(/^The host leads to an? [\w -]+ address\.$/)
    expect(server.connections + denied.connections).toBe(0)
  })

  it('is refused if it is no address at all', async () => {
    await using network = testNetwork({ zone: { 'odd.example': ['127.1'] } })
    expect((await network.refusal('http://odd.example/')).code).toBe('blocked_address')
  })

  it('is tried one after the other', async () => {
    await using server = await site('127.0.0.3')
    await using network = testNetwork({ zone: { 'two.example': ['127.0.0.2', '127.0.0.3'] } })
    expect(await network.text(`http://two.example:${server.port}/`)).toBe('127.0.0.3')
  })
})

describe('an IP literal', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '017700000001',
    '2130706433',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:2]',
    '0.0.0.0',
    '[::]',
  ])('that is denied is not connected to: %s', async (host) => {
    await using denied = await site('127.0.0.1')
    await using network = testNetwork()
    expect((await network.refusal(`http://${host}:${denied.port}/`)).code).toBe('blocked_address')
    expect(denied.connections).toBe(0)
    expect(network.lookups).toEqual([])
  })

  it('is refused by the connector too, which no look-up would see', async () => {
    await using denied = await rawServer(() => undefined, { host: '127.0.0.1' })
    for (const hostname of ['127.0.0.1', '[::1]', '::1']) {
      const error = await connectionError({ hostname, port: String(denied.port), protocol: 'http:' })
      expect(error).toMatchObject({ code: 'blocked_address' })
    }
    expect(denied.connections).toBe(0)
  })
})

it('checks the peer of an open socket once more, before anything is sent', async () => {
  let isOpen = false
  await using server = await rawServer((socket) => socket.once('data', () => (isOpen = true)))
  const checks: unknown[] = []
  const changing: Guard = {
    ...createGuard({ allow: ALLOWED, ports: '*' }),
    checkAddress(...ends) {
      checks.push(ends)
      if (checks.length > 1) throw new TargetError('blocked_address', `Denied ${ends[0]}.`)
    },
  }
  await using network = testNetwork({ guard: changing, zone: { 'late.example': ['127.0.0.2'] } })
  expect(await network.refusal(`http://late.example:${server.port}/`)).toMatchObject({ message: 'Denied 127.0.0.2.' })
  await server.idle()
  expect({ connections: server.connections, isOpen }).toEqual({ connections: 1, isOpen: false })
  expect(checks).toEqual([
    ['127.0.0.2', 'late.example'],
    ['127.0.0.2', 'late.example', '127.0.0.1'],
  ])
})

it('takes no socket that somebody else has opened', async () => {
  const httpSocket = new Socket()
  const error = await connectionError({ hostname: '127.0.0.2', port: '443', protocol: 'https:', httpSocket })
  expect(error).toMatchObject({ message: 'Only sockets opened here are used.' })
})

describe('connections', () => {
  it('are used again, and all closed in the end', async () => {
    await using server = await site('127.0.0.2')
    const network = testNetwork()
    await network.get(server.origin)
    await network.get(server.origin)
    expect(server.connections).toBe(1)
    await network.close()
    await server.idle()
  })

  it('are closed by `close` before they are ready', async () => {
    const accepted = Promise.withResolvers<void>()
    await using server = await rawServer(() => accepted.resolve())
    const network = testNetwork()
    const request = network.get(`https://127.0.0.2:${server.port}/`)
    request.catch(() => undefined)
    await accepted.promise
    await network.close()
    await server.idle()
    await expect(request).rejects.toThrow(/./)
  })

  it('are closed when they have been idle for a few seconds', async () => {
    await using server = await rawAnswers(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    await using network = testNetwork()
    await network.get(server.origin)
    await expect(server.idle()).resolves.toBeUndefined()
  })

  it('do not keep the process alive', async () => {
    await using server = await site('127.0.0.2')
    const script = `
      import { createGuard } from './src/fetcher/network/guard.ts'
      import { createNetwork } from './src/fetcher/network/network.ts'
      const guard = createGuard({ allow: ['127.0.0.2/32'], ports: '*' })
      const network = createNetwork({ guard, userAgent: 'test', bodyBytesMax: 1_000 })
      const { status } = await network.request('${server.origin}', new AbortController().signal)
      const started = performance.now()
      process.once('exit', () => console.log(status, performance.now() - started < 2_000))`
    const root = new URL('../../../', import.meta.url)
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: root,
    })
    expect(stdout).toBe('200 true\n')
  })
})

type Options = Parameters<ReturnType<typeof createConnector>['connect']>[0]

/** Connects without a client around the connector. */
function connectionError(options: Options): Promise<Error | null> {
  const guard = createGuard({ allow: ALLOWED, ports: '*' })
  const { connect } = createConnector({ guard, resolve: () => Promise.resolve([]) })
  return new Promise((resolve) => connect(options, (...[error]) => resolve(error)))
}
