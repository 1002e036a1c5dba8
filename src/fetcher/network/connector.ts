import assert from 'node:assert/strict'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Stream } from 'node:stream'
import { callbackify } from 'node:util'

import { buildConnector, type errors } from 'undici'

import { TargetError } from '../../jobs/target-error.ts'
import { bareHost, type Guard } from './guard.ts'
import { type Resolve, resolveChecked } from './resolve.ts'

/** Milliseconds for the look-up of the host, the connection and the TLS handshake together. */
export const CONNECT_MS_MAX = 10_000
/** Milliseconds before the next address of a host is tried. Node's 250 give up on a server at the far end of the world. */
const NEXT_ADDRESS_MS = 1_000

export interface ConnectorOptions {
  readonly guard: Guard
  readonly resolve: Resolve
  /** Certificate authorities in PEM instead of the built-in ones. */
  readonly ca?: string
  /** Milliseconds; for tests. */
  readonly connectMsMax?: number
}

export interface Connector {
  /**
   * Opens a connection. What it returns stands for the attempt: destroyed, as undici does when no request waits for the
   * connection any more, it ends whatever is under way. Undefined if nothing is.
   */
  readonly connect: (...args: Parameters<buildConnector.connector>) => Stream | undefined
  /** Destroys every socket, in whatever state it is. */
  close(): void
}

/**
 * Opens connections only to what the guard allows. An IP literal is checked before, since no look-up ever sees it; a
 * name is resolved here, once, and the connection goes to the addresses that were checked, so that no second answer
 * can take their place. The socket's own idea of its peer is checked last.
 */
export function createConnector({ guard, resolve, ca, connectMsMax = CONNECT_MS_MAX }: ConnectorOptions): Connector {
  const sockets = new Set<Socket>()
  const open = buildConnector({
    lookup: createLookup(guard, resolve),
    timeout: connectMsMax,
    allowH2: false,
    rejectUnauthorized: true, // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    ...(ca === undefined ? {} : { ca }),
  }) as Opener

  const connect: Connector['connect'] = (options, callback) => {
    const host = bareHost(options.hostname)
    try {
      if (options.httpSocket !== undefined) throw new Error('Only sockets opened here are used.')
      if (isIP(host) !== 0) guard.checkAddress(host)
    } catch (error) {
      process.nextTick(callback, error, null)
      return undefined
    }
    let isResolved = isIP(host) !== 0
    const socket = open(withServername(options, host), (error, opened) => {
      if (error !== null) {
        callback(isResolved || !isConnectTimeout(error) ? error : lookupTimeout(error), null)
        return
      }
      try {
        if (opened.remoteAddress === undefined) throw closedAtOnce()
        guard.checkAddress(opened.remoteAddress, host, opened.localAddress)
      } catch (refusal) {
        opened.destroy()
        callback(refusal as TargetError, null)
        return
      }
      callback(null, opened)
    })
    sockets.add(socket)
    return socket.once('lookup', () => (isResolved = true)).once('close', () => sockets.delete(socket))
  }

  return {
    connect,
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** What `buildConnector` really gives; its types hide the socket, which is there from the start. */
type Opener = (...args: Parameters<buildConnector.connector>) => Socket

/** Our look-up as Node calls one. It is always asked for all addresses, since more than one family is tried. */
function createLookup(guard: Guard, resolve: Resolve): LookupFunction {
  const lookup = callbackify(async (host: string) => {
    const addresses = await resolveChecked(host, resolve, guard)
    return addresses.map((address) => ({ address, family: isIP(address) }))
  })
  return (host, { all }, callback) => {
    assert(all === true)
    lookup(host, callback)
  }
}

/** TLS knows no host names with a dot at the end, neither in its greeting nor in certificates. */
export function withServername(options: buildConnector.Options, host: string): buildConnector.Options {
  return options.protocol === 'https:' && host.endsWith('.') ? { ...options, servername: host.slice(0, -1) } : options
}

/** A socket that was reset while it was opened no longer knows its peer. */
const closedAtOnce = () =>
  new TargetError('connection_closed', 'The server closed the connection as soon as it was open.')

const isConnectTimeout = (error: Error) =>
  (error as Partial<errors.ConnectTimeoutError>).code === 'UND_ERR_CONNECT_TIMEOUT'

/** The outcome of a look-up that takes all the time there is for a connection. */
export const lookupTimeout = (cause: unknown) =>
  new TargetError('dns_failure', 'The name server did not answer in time.', { cause })
