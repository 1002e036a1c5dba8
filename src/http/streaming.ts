import { Readable } from 'node:stream'

import type { FastifyReply } from 'fastify'

/** Aborts when the client has gone, or has got its whole answer. */
export function closeSignal({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController()
  if (raw.destroyed) closed.abort()
  else raw.once('close', () => closed.abort())
  return closed.signal
}

/**
 * Sends pieces as they come. Nothing is read ahead of a slow client, and nothing at all for a HEAD request, which is
 * answered at once.
 */
export function sendPieces(
  reply: FastifyReply,
  type: string,
  pieces: AsyncIterable<string | Uint8Array>,
): FastifyReply {
  const sent = reply.request.method === 'HEAD' ? [] : pieces
  return reply.type(type).send(Readable.from(sent, { highWaterMark: 1 }))
}
