import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

import { VERSION } from '../version.ts'
import { finishDocument, type OpenApiDocument } from './openapi-document.ts'
import { JOB_FINISHED_EXAMPLE } from './openapi-examples.ts'

const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  required: true,
  schema: { type: 'string' as const },
  description,
})

/** What the service sends of its own accord. */
const WEBHOOKS = {
  jobFinished: {
    post: {
      operationId: 'jobFinished',
      tags: ['jobs'],
      summary: 'A job has ended',
      description:
        'Sent to the `webhook` of a submission when its job has ended, however it did. Signed as Standard Webhooks has it. At least once, with the same `webhook-id` in every attempt.',
      security: [],
      parameters: [
        header('webhook-id', 'Id of the message.'),
        header('webhook-timestamp', 'When this attempt was made, in seconds since the Unix epoch.'),
        header('webhook-signature', 'Signatures over id, timestamp and body, one for each secret.'),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/JobFinished' },
            examples: { partial: { value: JOB_FINISHED_EXAMPLE } },
          },
        },
      },
      responses: {
        '2XX': { description: 'Taken; it is not sent again.' },
        '410': { description: 'Not wanted; it is not sent again.' },
        default: { description: 'Not taken; it is sent again later, for hours.' },
      },
    },
  },
}

/** The head of the OpenAPI document. The rest of it comes from the schemas of the routes. */
export const OPENAPI: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'pagehaul',
      version: VERSION,
      summary: 'Fetches a batch of URLs in the background and keeps what it found.',
      description: [
        'Submit a list of URLs, get a job at once, and read the content of each target as it completes.',
        'Errors are problem details (RFC 9457) with a stable `code`; their `type` leads to a page that explains it.',
        'A target that failed has a code of its own in `error`, explained at the same place.',
        'Fields, codes and values of enumerations can be added; clients pass over those that they do not know.',
      ].join('\n'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from.' }],
    tags: [
      { name: 'jobs', description: 'Submit, read, follow, retry and cancel batches.' },
      { name: 'operations', description: 'For whoever runs the service.' },
      { name: 'problems', description: 'What the codes of errors mean.' },
    ],
    webhooks: WEBHOOKS,
    security: [{ apiKey: [] }, {}],
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Wanted if the service is set up with keys. Without keys it is open, and `X-Caller-Id` names you.',
        },
      },
    },
  },
  refResolver: {
    buildLocalReference: ({ $id }, _base, _fragment, index) => (typeof $id === 'string' ? $id : `schema-${index}`),
  },
  transformObject: (made) => {
    if (!('openapiObject' in made)) throw new TypeError('This is no OpenAPI 3 document.')
    finishDocument(made.openapiObject as OpenApiDocument)
    return made.openapiObject
  },
}
