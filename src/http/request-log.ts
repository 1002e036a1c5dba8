import { type FastifyError, type FastifyReply, type FastifyRequest, LogController } from 'fastify'

import type { Metrics } from './metrics.ts'
import { logFailure } from './problem.ts'

/**
 * Logs and counts a request, once: when its answer has been sent, or when it was cut off, because the client has gone
 * or the service has failed. Fastify's own hooks do not see the latter.
 */
export function logWhenOver(
  request: FastifyRequest,
  reply: FastifyReply,
  requestFinished: Metrics['requestFinished'],
): void {
  const { raw } = reply
  let isWhole = false
  raw.once('finish', () => {
    isWhole = true
  })
  raw.once('close', () => {
    const { log, method, routeOptions } = request
    const { elapsedTime: durationMs } = reply
    const { url: route } = routeOptions // Not the URL: paths and queries can hold what belongs in no log.
    const statusCode = raw.headersSent ? raw.statusCode : undefined
    const aborted = isWhole ? undefined : true
    log.info({ method, route, statusCode, aborted, durationMs: Math.round(durationMs) }, 'request finished')
    requestFinished({ method, route, status: statusCode ?? 'aborted', durationMs })
  })
}

/** Keeps Fastify from logging requests in its way, but for what fails when the header of the answer has gone out. */
export class RequestLogController extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'requestId' })
  }

  override streamError(error: FastifyError, request: FastifyRequest): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') logFailure(error, request) // Else the client has gone.
  }
}
