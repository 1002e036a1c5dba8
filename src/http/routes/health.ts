import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { JobService } from '../../jobs/service.ts'
import { StringEnum } from '../../schema.ts'
import { json, SHARED_RESPONSES } from '../route-schemas.ts'

const Health = Type.Object(
  { status: StringEnum(['ok']) },
  { $id: 'Health', description: 'What a probe answers when all is well.' },
)
const ok = { status: 'ok' } as const

/** Probes for whoever supervises the process. Open to all. */
export const healthRoutes: FastifyPluginAsyncTypebox<{ jobs: JobService }> = async (app, { jobs }) => {
  app.addSchema(Health)
  app.get(
    '/livez',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getLiveness',
        summary: 'Whether the process answers',
        description: 'For a liveness probe: looks at nothing else, so that a full disk restarts nobody.',
        security: [],
        response: { 200: json(Health, 'It does.'), 500: SHARED_RESPONSES.failed },
      },
    },
    async () => ok,
  )

  app.get(
    '/readyz',
    {
      schema: {
        tags: ['operations'],
        operationId: 'getReadiness',
        summary: 'Whether jobs are taken',
        description: 'For a readiness probe: writes to the store and reads it back.',
        security: [],
        response: {
          200: json(Health, 'They are.'),
          500: SHARED_RESPONSES.failed,
          503: SHARED_RESPONSES.unavailable,
        },
      },
    },
    async () => {
      await jobs.assertReady()
      return ok
    },
  )
}
