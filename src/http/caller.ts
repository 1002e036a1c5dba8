import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

import type { ApiKey } from '../api-key.ts'
import type { Clock } from '../clock.ts'
import { AppError } from '../errors.ts'
import type { IpRange } from '../ip.ts'
import { clientAddress } from './client-address.ts'
import { createKeyRing, type KeyRefusal } from './keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Who asks: `key:` and the name of the key; without keys `id:` and the `X-Caller-Id` header, or `ip:` and the
     * address of the client.
     */
    caller: string
  }
}

/** What the header may hold: 1 to 128 visible ASCII characters. */
export const CALLER_ID_PATTERN = '^[\\x21-\\x7e]{1,128}$'
const CALLER_ID = new RegExp(CALLER_ID_PATTERN)

const REFUSALS: Readonly<Record<KeyRefusal, { detail: string; hint: string }>> = {
  missing: {
    detail: 'There is no API key in the request.',
    hint: 'Send the header `Authorization: Bearer` with your key.',
  },
  mistyped: {
    detail: 'The API key is not one, or is mistyped.',
    hint: 'Copy the whole of it, from `phk_` to its last letter.',
  },
  unknown: { detail: 'The API key is not known here.', hint: 'Ask whoever runs the service for a key.' },
  expired: { detail: 'The API key has expired.', hint: 'Ask whoever runs the service for a new one.' },
}

export interface CallerOptions {
  /** If there are any, every request must have one of them. */
  readonly apiKeys: readonly ApiKey[]
  /** Proxies whose `X-Forwarded-For` counts. */
  readonly trustedProxies: readonly IpRange[]
  readonly clock: Clock
}

/** Names the caller of each request, or refuses it. The prefixes keep a header from posing as an address or a key. */
export const callerPlugin = fp<CallerOptions>(
  async (app, { apiKeys, trustedProxies, clock }) => {
    app.decorateRequest('caller', '')
    app.addHook('onRequest', async (_request, reply) => {
      void reply.header('cache-control', 'private, no-store') // What is one caller's; routes may allow more.
    })
    if (apiKeys.length > 0) {
      const ring = createKeyRing(apiKeys, clock)
      app.addHook('onRequest', async (request, reply) => {
        const checked = ring.check(request.headers.authorization)
        if ('refusal' in checked) throw unauthorized(reply, checked.refusal)
        delete request.headers['x-caller-id'] // A key has a name of its own.
        request.caller = `key:${checked.name}`
      })
      return
    }
    app.addHook('onRequest', async (request) => {
      const { 'x-caller-id': id, 'x-forwarded-for': forwardedFor } = request.headers
      request.caller =
        id === undefined ? `ip:${clientAddress(request.ip, forwardedFor, trustedProxies)}` : `id:${assertCallerId(id)}`
    })
  },
  { name: 'request-caller' }, // A plugin named `caller` would shadow Function.prototype.caller, and throws.
)

function assertCallerId(header: string | string[]): string {
  if (typeof header === 'string' && CALLER_ID.test(header)) return header
  throw new AppError('validation_failed', 'The X-Caller-Id header is not valid.', {
    hint: 'Send 1 to 128 visible ASCII characters, or leave the header out.',
  })
}

/** Challenges the client as RFC 6750 §3 has it: without an error where there were no credentials. */
function unauthorized(reply: FastifyReply, refusal: KeyRefusal): AppError {
  const { detail, hint } = REFUSALS[refusal]
  const error = refusal === 'missing' ? '' : `, error="invalid_token", error_description="${detail}"`
  void reply.header('www-authenticate', `Bearer realm="pagehaul"${error}`)
  return new AppError('unauthorized', detail, { hint })
}
