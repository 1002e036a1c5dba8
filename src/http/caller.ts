import fp from 'fastify-plugin'

import { AppError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks: `id:` and the `X-Caller-Id` header, or `ip:` and the peer's address. */
    caller: string
  }
}

/** What the header may hold: 1 to 128 visible ASCII characters. */
export const CALLER_ID_PATTERN = '^[\\x21-\\x7e]{1,128}$'
const CALLER_ID = new RegExp(CALLER_ID_PATTERN)

/** Names the caller of each request. The two prefixes keep a header from posing as an address. */
export const callerPlugin = fp(
  async (app) => {
    app.decorateRequest('caller', '')
    app.addHook('onRequest', async (request) => {
      const header = request.headers['x-caller-id']
      if (header === undefined) {
        request.caller = `ip:${request.ip.replace(/^::ffff:(?=\d+\.)/, '')}`
        return
      }
      if (typeof header !== 'string' || !CALLER_ID.test(header)) {
        throw new AppError('validation_failed', 'The X-Caller-Id header is not valid.', {
          hint: 'Send 1 to 128 visible ASCII characters, or leave the header out.',
        })
      }
      request.caller = `id:${header}`
    })
  },
  { name: 'request-caller' }, // A plugin named `caller` would shadow Function.prototype.caller, and throws.,
)
