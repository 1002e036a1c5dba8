import { once } from 'node:events'
import { type IncomingMessage, request as startRequest } from 'node:http'
import { connect, isIPv6, type Socket } from 'node:net'

import { TargetError, type TargetErrorCode } from '../../jobs/target-error.ts'
import { raceAbort } from '../../race-abort.ts'
import { toTargetError } from './errors.ts'
import { bareHost } from './guard.ts'
import { portOf } from './ports.ts'
import { isSuccess, statusText } from './status.ts'

/** The proxy that the operator has put between this service and the network. */
export interface EgressProxy {
  /**
   * Opens a tunnel to the first of these addresses that the proxy connects to. Nothing of it has been checked here: the
   * addresses must have been.
   * @param signal ends what is under way, and has no say over a tunnel that is open.
   * @throws {TargetError} `unreachable`; `connect_timeout` when the signal aborts.
   */
  open(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket>
}

/**
 * Speaks the CONNECT of HTTP to a proxy. It is told addresses and never a name, which it would resolve once more, to
 * whatever it liked.
 * @param proxyUrl http, with credentials if the proxy wants any. They go to the proxy, and into no message.
 */
export function createEgressProxy(proxyUrl: string): EgressProxy {
  const url = new URL(proxyUrl)
  const place = { host: bareHost(url.hostname), port: portOf(url) }
  const headers = authorization(url)
  return {
    async open(addresses, port, signal) {
      let status = 0
      for (const address of addresses) {
        const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`
        const socket = connect({ ...place, noDelay: true, keepAlive: true })
        socket.on('error', () => undefined) // Between two owners there is nobody else to listen.
        try {
          status = await raceAbort(ask(authority, headers, socket), signal)
          if (isSuccess(status)) return socket
        } catch (error) {
          socket.destroy()
          throw signal.aborted ? late(error) : unusable(error)
        }
        socket.destroy()
      }
      throw fault('unreachable', `answered ${statusText(status)}`)
    },
  }
}

/** The status that the proxy answers with. After a success, the socket is the tunnel. */
async function ask(authority: string, headers: Readonly<Record<string, string>>, socket: Socket): Promise<number> {
  const request = startRequest({
    method: 'CONNECT',
    path: authority,
    headers: { ...headers, host: authority },
    createConnection: () => socket,
  })
  request.on('error', () => undefined).end() // It may fail once more after it was given up.
  const [{ statusCode = 0 }, , early] = (await once(request, 'connect')) as [IncomingMessage, Socket, Buffer]
  // In HTTP and TLS no server begins. Taken for the answer to a request that is yet to come, this would mix up pages.
  if (isSuccess(statusCode) && early.byteLength > 0) throw fault('unreachable', 'sent more than its answer')
  return statusCode
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}

/** What a failure of the connection to the proxy means; anything else is a bug. */
function unusable(error: unknown): unknown {
  const known = toTargetError(error)
  if (known === undefined || known === error) return error
  return fault('unreachable', FAULTS[known.code] ?? 'cannot be reached', error)
}

const FAULTS: Readonly<Partial<Record<TargetErrorCode, string>>> = {
  bad_response: 'did not answer with valid HTTP, or with too long a header',
  connection_closed: 'closed the connection',
}

const late = (cause: unknown) => fault('connect_timeout', 'did not open a connection in time', cause)

const fault = (code: 'unreachable' | 'connect_timeout', what: string, cause?: unknown) =>
  new TargetError(code, `The egress proxy ${what}.`, {
    hint: 'The service fetches through PAGEHAUL_EGRESS_PROXY, which did not do its part; its operator can find out why.',
    cause,
  })
