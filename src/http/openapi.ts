import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

import { VERSION } from '../version.ts'

/** The head of the OpenAPI document. The rest of it comes from the schemas of the routes. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'pagehaul',
      version: VERSION,
      description:
        'Fetches a batch of URLs in the background and keeps what it found. Errors are problem details (RFC 9457) with a stable `code`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: [
      { name: 'jobs', description: 'Submit, read and cancel batches.' },
      { name: 'health', description: 'For whoever supervises the process.' },
    ],
  },
  refResolver: {
    buildLocalReference: ({ $id }, _base, _fragment, index) => (typeof $id === 'string' ? $id : `schema-${index}`),
  },
}
