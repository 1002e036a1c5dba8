import { randomUUID } from 'node:crypto'

import type { FastifyReply, FastifyRequest, RawRequestDefaultExpression } from 'fastify'
import fp from 'fastify-plugin'

import { KEY_PREFIX } from '../api-key.ts'

/** 1 to 128 visible ASCII characters: what any log can hold. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** The id that the client or a proxy gave the request, if it is fit for a log and not a misplaced key; else a new one. */
export function requestIdOf({ headers }: RawRequestDefaultExpression): string {
  const given = headers['x-request-id']
  const isFit = typeof given === 'string' && REQUEST_ID.test(given) && !given.includes(KEY_PREFIX)
  return isFit ? given : randomUUID()
}

/** Tells the client the id under which the log has its request. */
export function echoRequestId({ id }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', id)
}

/** Names every answer after its request. */
export const requestIdPlugin = fp(
  async (app) => {
    app.addHook('onRequest', async (request, reply) => echoRequestId(request, reply))
  },
  { name: 'request-id' },
)
