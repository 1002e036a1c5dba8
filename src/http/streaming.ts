import { Readable } from 'node:stream'

import type { FastifyReply } from 'fastify'

/** Bytes up to which a body is sent in one piece: cheaper than a stream, and it tells its length. */
const WHOLE_BYTES_MAX = 65_536

type Piece = string | Uint8Array

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
export function sendPieces(reply: FastifyReply, type: string, pieces: AsyncIterable<Piece>): FastifyReply {
  const sent = reply.request.method === 'HEAD' ? [] : pieces
  return reply.type(type).send(Readable.from(sent, { highWaterMark: 1 }))
}

/** Sends a body that comes in pieces without a pause: a small one whole, a larger one piece by piece. */
export async function sendBody(
  reply: FastifyReply,
  type: string,
  pieces: AsyncGenerator<Piece, void, undefined>,
): Promise<FastifyReply> {
  if (reply.request.method === 'HEAD') return sendPieces(reply, type, pieces)
  const held: Uint8Array[] = []
  for (let length = 0; length <= WHOLE_BYTES_MAX;) {
    const { value, done } = await pieces.next()
    if (done) return reply.type(type).send(Buffer.concat(held))
    const piece = typeof value === 'string' ? Buffer.from(value) : value
    held.push(piece)
    length += piece.length
  }
  return sendPieces(reply, type, continued(held, pieces))
}

async function* continued(start: readonly Piece[], rest: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  yield* start
  yield* rest
}
