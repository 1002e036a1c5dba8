import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { AppError } from '../../errors.ts'
import type { Metrics } from '../metrics.ts'
import { SHARED_RESPONSES } from '../route-schemas.ts'

export interface MetricsRouteOptions {
  readonly metrics: Metrics
  /** Size of the database, in bytes. Rejects with an `AppError` if that cannot be read. */
  readonly storeBytes: () => Promise<number>
}

/** For Prometheus and whatever reads its format. Open to all: nothing in it tells of a URL, a host or a caller. */
export const metricsRoute: FastifyPluginAsyncTypebox<MetricsRouteOptions> = async (app, { metrics, storeBytes }) => {
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getMetrics',
        summary: 'Metrics in the text format of Prometheus',
        description: 'Names carry their units. Nothing is labelled by URL, host or caller.',
        security: [],
        response: {
          200: {
            description: 'The metrics.',
            content: { 'text/plain': { schema: Type.String({ description: 'Text format of Prometheus, 0.0.4.' }) } },
          },
          500: SHARED_RESPONSES.failed,
        },
      },
    },
    async (_request, reply) =>
      reply.type(metrics.contentType).send(await metrics.scrape(await storeBytes().catch(toUnknown))),
  )
}

/** A database that cannot be read is when the other metrics are needed. */
function toUnknown(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
}
