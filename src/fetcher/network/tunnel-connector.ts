import { isIP, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { callbackify } from 'node:util'

import { buildConnector, errors } from 'undici'

import { raceAbort } from '../../race-abort.ts'
import { CONNECT_MS_MAX, type Connector, type ConnectorOptions, lookupTimeout, withServername } from './connector.ts'
import type { EgressProxy } from './egress-proxy.ts'
import { bareHost } from './guard.ts'
import { portOf } from './ports.ts'
import { resolveChecked } from './resolve.ts'

export interface TunnelConnectorOptions extends ConnectorOptions {
  readonly proxy: EgressProxy
}

/**
 * Opens connections as `createConnector` does, but through a proxy, and never past it. The host is resolved and checked
 * here, the proxy is told the address, and TLS is spoken inside, with the host. Plain HTTP takes a tunnel as well: a
 * proxy that forwards requests would be told the name.
 */
export function createTunnelConnector(options: TunnelConnectorOptions): Connector {
  const { guard, resolve, ca, proxy, connectMsMax = CONNECT_MS_MAX } = options
  const closing = new AbortController()
  const tunnels = new Set<Socket>()
  const connectTls = buildConnector({
    timeout: connectMsMax,
    allowH2: false,
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  })

  async function addressesOf(host: string): Promise<readonly string[]> {
    if (isIP(host) === 0) return resolveChecked(host, resolve, guard)
    guard.checkAddress(host)
    return [host]
  }

  function secure(tunnel: Socket, target: buildConnector.Options): Promise<Socket> {
    const { promise, resolve: done, reject } = Promise.withResolvers<Socket>()
    connectTls({ ...withServername(target, bareHost(target.hostname)), httpSocket: tunnel }, (error, socket) => {
      if (error === null) done(socket)
      else reject(error)
    })
    return promise
  }

  async function open(target: buildConnector.Options, calledOff: AbortSignal): Promise<Socket> {
    const signal = AbortSignal.any([closing.signal, calledOff, AbortSignal.timeout(connectMsMax)])
    const addresses = await inTime(addressesOf(bareHost(target.hostname)), signal, lookupTimeout)
    const tunnel = await proxy.open(addresses, portOf(target), signal)
    tunnels.add(tunnel)
    tunnel.once('close', () => tunnels.delete(tunnel))
    if (target.protocol !== 'https:') return tunnel
    try {
      return await inTime(secure(tunnel, target), signal, () => new errors.ConnectTimeoutError())
    } catch (error) {
      tunnel.destroy()
      throw error
    }
  }

  const opening = callbackify(open)
  return {
    connect(target, callback) {
      const calledOff = new AbortController()
      opening(target, calledOff.signal, (error, socket) => (error ? callback(error, null) : callback(null, socket)))
      return new Readable().once('close', () => calledOff.abort()) // There is no socket yet that could stand for it.
    },
    close() {
      closing.abort(new Error('The network is closed.'))
      for (const tunnel of tunnels) tunnel.destroy()
    },
  }
}

/** Waits for one step of a connection. @throws what `late` gives, if the signal aborts first. */
async function inTime<T>(work: Promise<T>, signal: AbortSignal, late: (cause: unknown) => Error): Promise<T> {
  try {
    return await raceAbort(work, signal)
  } catch (error) {
    throw signal.aborted ? late(error) : error
  }
}
