import { setImmediate } from 'node:timers/promises'

import { CookieJar } from 'tough-cookie'
import { Agent, type Dispatcher } from 'undici'

import { TargetError } from '../../jobs/target-error.ts'
import { createConnector } from './connector.ts'
import { ACCEPT_ENCODING } from './decode.ts'
import { toTargetError } from './errors.ts'
import type { Guard } from './guard.ts'
import { discard, headerLines, receiveBody } from './receive.ts'
import { isRedirect, redirectUrl } from './redirect.ts'
import { type Resolve, systemResolve } from './resolve.ts'
import type { FetchedResponse } from './response.ts'

const REDIRECTS_MAX = 10
const HEADER_BYTES_MAX = 32 * 1024
/** Milliseconds that a connection is kept for the next request to its host. */
const IDLE_MS_MAX = 4_000

const ACCEPT = 'text/html,application/xhtml+xml,application/pdf;q=0.9,application/json;q=0.9,*/*;q=0.8'

export interface RequestOptions {
  readonly guard: Guard
  readonly resolve?: Resolve
  readonly userAgent: string
  /** Largest body in bytes, as sent and as decoded. */
  readonly bodyBytesMax: number
  /** Certificate authorities in PEM instead of the built-in ones; for tests. */
  readonly ca?: string
  /** Milliseconds for a connection; for tests. */
  readonly connectMsMax?: number
}

export interface Network {
  /**
   * Gets a URL and follows its redirects. Any final status is an answer, not an error.
   * @param signal the only deadline. When it aborts, the request rejects with its reason and its socket is destroyed.
   * @throws {TargetError}
   */
  request(url: string, signal: AbortSignal): Promise<FetchedResponse>
  /** Destroys every connection. Requests in flight reject. */
  close(): Promise<void>
}

/** The only way out to the network. Connections are shared between requests, cookies are not. */
export function createRequest(options: RequestOptions): Network {
  const { guard, resolve = systemResolve, userAgent, bodyBytesMax, ca, connectMsMax } = options
  const connector = createConnector({
    guard,
    resolve,
    ...(ca === undefined ? {} : { ca }),
    ...(connectMsMax === undefined ? {} : { connectMsMax }),
  })
  const agent = new Agent({
    connect: connector.connect,
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    keepAliveMaxTimeout: IDLE_MS_MAX,
  })

  async function send(url: URL, cookie: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    await setImmediate() // A connection is free again one turn after its answer; who asks sooner gets another.
    const headers = {
      'user-agent': userAgent,
      accept: ACCEPT,
      'accept-encoding': ACCEPT_ENCODING,
      ...(cookie === '' ? {} : { cookie }),
    }
    return agent.request({ origin: url.origin, path: url.pathname + url.search, method: 'GET', headers, signal })
  }

  async function follow(first: URL, signal: AbortSignal): Promise<FetchedResponse> {
    const jar = new CookieJar()
    const seen = new Set<string>()
    let url = first
    for (let redirects = 0; ; redirects += 1) {
      const cookie = jar.getCookieStringSync(url.href)
      // The same URL with other cookies is no loop: that is how a site sets them.
      const step = `${url.origin}${url.pathname}${url.search} ${cookie}`
      if (seen.has(step)) throw new TargetError('redirect_loop', 'The server redirects in a circle.')
      seen.add(step)
      const response = await send(url, cookie, signal)
      if (!isRedirect(response.statusCode)) {
        const body = await receiveBody(response, bodyBytesMax)
        const [contentType] = headerLines(response, 'content-type')
        return { url: url.href, status: response.statusCode, contentType, body, attempts: 1 }
      }
      discard(response)
      if (redirects === REDIRECTS_MAX) {
        throw new TargetError('too_many_redirects', `The server redirects more than ${REDIRECTS_MAX} times.`)
      }
      for (const line of headerLines(response, 'set-cookie')) jar.setCookieSync(line, url.href, { ignoreError: true })
      url = redirectUrl(url, headerLines(response, 'location')[0], guard)
    }
  }

  return {
    async request(url, signal) {
      try {
        signal.throwIfAborted()
        const response = await follow(guard.checkUrl(url), signal)
        signal.throwIfAborted()
        return response
      } catch (error) {
        signal.throwIfAborted()
        throw toTargetError(error) ?? error
      }
    },
    async close() {
      connector.close()
      await agent.destroy()
    },
  }
}
