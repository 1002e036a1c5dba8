import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

import { Webhook } from 'standardwebhooks'

import type { JobFinished, WebhookView } from '../../src/jobs/schema.ts'
import type { DeliverWebhook, WebhookAnswer, WebhookMessage } from '../../src/jobs/webhook-message.ts'
import { parseWebhookSecret } from '../../src/jobs/webhook-signature.ts'
import { serve } from './raw-server.ts'
import type { buildService } from './service.ts'

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`
export const WEBHOOK_SECRETS = [parseWebhookSecret(WEBHOOK_SECRET) ?? new Uint8Array()]

/** One attempt that the service has made; the test decides how and when it ends. */
interface Attempt extends WebhookMessage {
  readonly signal: AbortSignal
  answer(status: number): void
  fail(error: string): void
  reject(error: unknown): void
}

/** A `DeliverWebhook` in the hands of the test. */
export function fakeDelivery() {
  const attempts: Attempt[] = []
  const waiters: ((attempt: Attempt) => void)[] = []
  const deliver: DeliverWebhook = (message, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<WebhookAnswer>()
    const attempt: Attempt = {
      ...message,
      signal,
      answer: (status) => resolve({ status }),
      fail: (error) => resolve({ failure: { error, message: 'It failed.' } }),
      reject,
    }
    const waiter = waiters.shift()
    if (waiter) waiter(attempt)
    else attempts.push(attempt)
    return promise
  }
  return {
    /** For a service that takes webhooks. All pauses are the shortest that the jitter allows. */
    webhooks: { deliver, secrets: WEBHOOK_SECRETS, random: () => 0 },
    /** The next attempt, as soon as it is made. */
    next: (): Promise<Attempt> => {
      const attempt = attempts.shift()
      return attempt ? Promise.resolve(attempt) : new Promise((resolve) => waiters.push(resolve))
    },
    /** Attempts made and not taken with `next()`. */
    get waiting() {
      return attempts.length
    },
  }
}

/** What an attempt says, if its signature is right at the time that it names. */
export function opened({ headers, body }: Pick<WebhookMessage, 'headers' | 'body'>): JobFinished {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signature } = headers
  const expected = new Webhook(WEBHOOK_SECRET).sign(id, new Date(Number(timestamp) * 1_000), body)
  if (signature !== expected) throw new Error(`The signature is ${signature}, not ${expected}.`)
  return JSON.parse(body) as JobFinished
}

/** The webhook of a job of alice's once so many attempts on it are stored. */
export async function webhookAfter(
  { changes, get }: Pick<Awaited<ReturnType<typeof buildService>>, 'changes' | 'get'>,
  id: string,
  attempts: number,
): Promise<WebhookView> {
  const { signal } = new AbortController()
  for (;;) {
    const changed = changes.next(id, signal)
    const { webhook } = (await get(id)).body
    if (webhook && webhook.attempts >= attempts) return webhook
    await changed
  }
}

/** A request as it came in. */
interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Answers a request, or does not. */
type SinkAct = (response: ServerResponse) => void

/** A server for webhooks. Each request takes the next act; the last one is for all that follow. `await using` ends it. */
export async function serveSink(...acts: readonly SinkAct[]) {
  const received: Received[] = []
  const waiters = new Map<number, (request: Received) => void>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      const act = acts[Math.min(received.length, acts.length - 1)]
      const { method, url: path, headers } = request
      const told = { method, path, headers, body }
      received.push(told)
      act?.(response)
      waiters.get(received.length - 1)?.(told)
    })
  })
  const served = await serve(server)
  return {
    url: `${served.origin}/hook?token=abc`,
    origin: served.origin,
    port: served.port,
    received,
    /** The request of this number, from 0, as soon as it has come in. */
    at: (index: number): Promise<Received> => {
      const request = received[index]
      return request ? Promise.resolve(request) : new Promise((resolve) => waiters.set(index, resolve))
    },
    /** Resolves once no connection is open. */
    idle: () => served.idle(),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

export const answering =
  (status: number, headers: Record<string, string> = {}): SinkAct =>
  (response) =>
    void response.writeHead(status, headers).end('ok')
