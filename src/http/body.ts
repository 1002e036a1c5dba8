import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import { AppError } from '../errors.ts'
import { unsupportedMediaType } from './problem.ts'
import { parseUriList } from './uri-list.ts'

/**
 * Reads bodies of JSON and lists of URLs, and only those. The body of a DELETE means nothing (RFC 9110 §9.3.5) and is passed over with its
 * type: many a client sends a content type on every request. So is a type without a body, such as the one of `curl -d ''`.
 */
export const bodyPlugin = fp(
  async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) =>
      parse(body),
    )
    app.addContentTypeParser('text/uri-list', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) =>
      parseUriList(body),
    )
    app.addContentTypeParser('*', { parseAs: 'buffer' }, async ({ method }: FastifyRequest, body: Buffer) => {
      if (method !== 'DELETE' && body.length > 0) throw unsupportedMediaType()
    })
    app.addHook('onRequest', async ({ method, headers }) => {
      if (method === 'DELETE') delete headers['content-type']
    })
  },
  { name: 'request-body' },
)

/** @throws {AppError} `invalid_json` */
function parse(body: Buffer): unknown {
  if (body.length === 0) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8'
    throw new AppError('invalid_json', `The body is not JSON: ${reason}.`, { cause })
  }
}
