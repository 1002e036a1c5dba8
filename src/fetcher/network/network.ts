import { setImmediate } from 'node:timers/promises'

import { CookieJar } from 'tough-cookie'
import { Agent, type Dispatcher } from 'undici'

import { TargetError } from '../../jobs/target-error.ts'
import { createConnector } from './connector.ts'
import { ACCEPT_ENCODING } from './decode.ts'
import type { EgressProxy } from './egress-proxy.ts'
import { toTargetError } from './errors.ts'
import type { Guard } from './guard.ts'
import { discard, headerLines, headersOf, receiveBody } from './receive.ts'
import { isRedirect, redirectUrl } from './redirect.ts'
import { type Resolve, systemResolve } from './resolve.ts'
import type { FetchedResponse } from './response.ts'
import { createTunnelConnector } from './tunnel-connector.ts'

const REDIRECTS_MAX = 10
const HEADER_BYTES_MAX = 32 * 1024
/** Milliseconds that a connection is kept for the next request to its host. */
const IDLE_MS_MAX = 4_000

const ACCEPT = 'text/html,application/xhtml+xml,application/pdf;q=0.9,application/json;q=0.9,*/*;q=0.8'

export interface NetworkOptions {
  readonly guard: Guard
  readonly resolve?: Resolve
  readonly userAgent: string
  /** What every connection goes through; undefined if they go straight to the servers. */
  readonly proxy?: EgressProxy | undefined
  /** Largest body in bytes, as sent and as decoded. */
  readonly bodyBytesMax: number
  /** Certificate authorities in PEM instead of the built-in ones; for tests. */
  readonly ca?: string
  /** Milliseconds for a connection; for tests. */
  readonly connectMsMax?: number
}

/** What a POST sends. */
export interface PostMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Called with every URL before it is requested, those of redirects included; what it gives is called once the answer has
 * been received. It throws for a URL that must not be requested.
 */
export type Admit = (url: URL, signal: AbortSignal) => Promise<() => void>

export interface Network {
  /**
   * Gets a URL and follows its redirects. Any final status is an answer, not an error.
   * @param signal the only deadline. When it aborts, the request rejects with its reason and its socket is destroyed.
   * @throws {TargetError}
   */
  request(url: string, signal: AbortSignal, admit?: Admit): Promise<FetchedResponse>
  /**
   * Sends a body. A redirect is an answer like any other, so that what was sent goes nowhere else. Signal and errors
   * are those of `request`.
   * @throws {TargetError}
   */
  post(url: string, message: PostMessage, signal: AbortSignal): Promise<FetchedResponse>
  /**
   * As `post`, but what matters is that it arrives: gives the status, and lets go of the body of the answer unread.
   * @throws {TargetError}
   */
  notify(url: string, message: PostMessage, signal: AbortSignal): Promise<number>
  /** Destroys every connection. Requests in flight reject. */
  close(): Promise<void>
}

/** The only way out to the network. Connections are shared between requests, cookies are not. */
export function createNetwork(options: NetworkOptions): Network {
  const { guard, resolve = systemResolve, userAgent, proxy, bodyBytesMax, ca, connectMsMax } = options
  const connecting = {
    guard,
    resolve,
    ...(ca === undefined ? {} : { ca }),
    ...(connectMsMax === undefined ? {} : { connectMsMax }),
  }
  const connector = proxy === undefined ? createConnector(connecting) : createTunnelConnector({ ...connecting, proxy })
  const agent = new Agent({
    connect: connector.connect,
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    keepAliveMaxTimeout: IDLE_MS_MAX,
  })

  async function send(url: URL, message: Message, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    await setImmediate() // A connection is free again one turn after its answer; who asks sooner gets another.
    const headers = { 'user-agent': userAgent, 'accept-encoding': ACCEPT_ENCODING, ...message.headers }
    return agent.request({ origin: url.origin, path: url.pathname + url.search, ...message, headers, signal })
  }

  async function receive(url: URL, response: Dispatcher.ResponseData): Promise<FetchedResponse> {
    const body = await receiveBody(response, bodyBytesMax)
    const headers = headersOf(response)
    const [contentType] = headerLines(response, 'content-type')
    return { url: url.href, status: response.statusCode, contentType, headers, body, attempts: 1 }
  }

  async function follow(first: URL, signal: AbortSignal, admit: Admit | undefined): Promise<FetchedResponse> {
    const jar = new CookieJar()
    const seen = new Set<string>()
    let url = first
    for (let redirects = 0; ; redirects += 1) {
      const cookie = jar.getCookieStringSync(url.href)
      // The same URL with other cookies is no loop: that is how a site sets them.
      const step = `${url.origin}${url.pathname}${url.search} ${cookie}`
      if (seen.has(step)) throw new TargetError('redirect_loop', 'The server redirects in a circle.')
      seen.add(step)
      const leave = await admit?.(url, signal)
      try {
        const headers = { accept: ACCEPT, ...(cookie === '' ? {} : { cookie }) }
        const response = await send(url, { method: 'GET', headers }, signal)
        if (!isRedirect(response.statusCode)) return await receive(url, response)
        discard(response)
        if (redirects === REDIRECTS_MAX) {
          throw new TargetError('too_many_redirects', `The server redirects more than ${REDIRECTS_MAX} times.`)
        }
        for (const line of headerLines(response, 'set-cookie')) jar.setCookieSync(line, url.href, { ignoreError: true })
        url = redirectUrl(url, headerLines(response, 'location')[0], guard)
      } finally {
        leave?.()
      }
    }
  }

  return {
    request: (url, signal, admit) => settle(() => follow(guard.checkUrl(url), signal, admit), signal),
    post(raw, message, signal) {
      const answer = async () => {
        const url = guard.checkUrl(raw)
        return receive(url, await send(url, { method: 'POST', ...message }, signal))
      }
      return settle(answer, signal)
    },
    notify(raw, message, signal) {
      const answer = async () => {
        const response = await send(guard.checkUrl(raw), { method: 'POST', ...message }, signal)
        discard(response)
        return response.statusCode
      }
      return settle(answer, signal)
    },
    async close() {
      connector.close()
      await agent.destroy()
    },
  }
}

interface Message extends Partial<PostMessage> {
  readonly method: 'GET' | 'POST'
}

/** Waits for an answer. After an abort its reason counts, whatever came of the work. */
async function settle<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    signal.throwIfAborted()
    const result = await work()
    signal.throwIfAborted()
    return result
  } catch (error) {
    signal.throwIfAborted()
    throw toTargetError(error) ?? error
  }
}
