import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { JobService } from '../../jobs/service.ts'
import { problemResponse } from '../problem.ts'

const Health = Type.Object({ status: Type.Literal('ok') })
const ok = { status: 'ok' } as const

/** Probes for whoever supervises the process. Open to all. */
export const healthRoutes: FastifyPluginAsyncTypebox<{ jobs: JobService }> = async (app, { jobs }) => {
  app.get(
    '/livez',
    {
      schema: {
        tags: ['health'],
        operationId: 'getLiveness',
        summary: 'Whether the process answers',
        response: { 200: { description: 'It does.', content: { 'application/json': { schema: Health } } } },
      },
    },
    async () => ok,
  )

  app.get(
    '/readyz',
    {
      schema: {
        tags: ['health'],
        operationId: 'getReadiness',
        summary: 'Whether jobs are taken: writes to the store and reads it back',
        response: {
          200: { description: 'They are.', content: { 'application/json': { schema: Health } } },
          500: problemResponse('`internal_error`: the service failed; its log has the cause.'),
          503: problemResponse('`shutting_down`, `storage_full` or `storage_unavailable`.'),
        },
      },
    },
    async () => {
      await jobs.assertReady()
      return ok
    },
  )
}
