import accepts from '@fastify/accepts'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { AppError } from '../../errors.ts'
import { acceptedType } from '../accepted-type.ts'
import { describeCode, ErrorDescription } from '../error-description.ts'
import { errorPage, PAGE_POLICY } from '../error-page.ts'
import { problemResponse } from '../problem.ts'
import { json, SHARED_RESPONSES, VARY } from '../route-schemas.ts'

const JSON_TYPE = 'application/json'
const HTML_TYPE = 'text/html'

/** What the codes of problems and of failed targets mean: where the `type` of a problem leads. Open to all. */
export const problemRoutes: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(accepts)
  app.addSchema(ErrorDescription)

  app.get(
    '/problems/:code',
    {
      schema: {
        tags: ['problems'],
        operationId: 'getProblem',
        summary: 'What an error code means',
        description:
          'For the `code` of a problem, which its `type` leads to, and for the `error` of a target. JSON by default, a page with `Accept: text/html`.',
        security: [],
        params: Type.Object({
          code: Type.String({ description: 'Code of a problem or of a target.', examples: ['job_not_found'] }),
        }),
        response: {
          200: {
            description: 'What it means, and what to do.',
            content: {
              ...json(ErrorDescription, '').content,
              [HTML_TYPE]: { schema: Type.String({ description: 'The same as a page.' }) },
            },
            headers: {
              ...VARY,
              'Content-Security-Policy': Type.String({ description: 'With the page: it runs and loads nothing.' }),
              'X-Content-Type-Options': Type.String({ description: '`nosniff`.' }),
            },
          },
          404: problemResponse('`not_found`: there is no such code.'),
          406: problemResponse('`not_acceptable`: `Accept` names no type that there is.'),
          500: SHARED_RESPONSES.failed,
        },
      },
    },
    async (request, reply) => {
      const type = acceptedType(request, [JSON_TYPE, HTML_TYPE])
      if (type === undefined) {
        throw new AppError('not_acceptable', 'The code is not explained in a type that Accept asks for.', {
          hint: `Ask for ${JSON_TYPE} or ${HTML_TYPE}.`,
        })
      }
      const description = describeCode(request.params.code)
      if (description === undefined) throw new AppError('not_found', 'There is no such error code.')
      void reply.header('vary', 'accept').header('x-content-type-options', 'nosniff')
      if (type === JSON_TYPE) return description
      void reply.header('content-security-policy', PAGE_POLICY)
      return reply.type('text/html; charset=utf-8').send(errorPage(description))
    },
  )
}
