import accepts from '@fastify/accepts'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'

import { AppError, jobNotFound } from '../../errors.ts'
import { type TargetResult, TargetView } from '../../jobs/schema.ts'
import type { JobService } from '../../jobs/service.ts'
import type { JobSnapshot, TargetRecord } from '../../jobs/store.ts'
import { acceptedType } from '../accepted-type.ts'
import { type JobBodies, toTargetHead } from '../job-body.ts'
import { problemResponse } from '../problem.ts'
import { JobId, JOBS, json, SANDBOXED, SHARED_RESPONSES, VARY } from '../route-schemas.ts'
import { sendBody } from '../streaming.ts'
import { sliceText, type TextSlice } from '../text-slice.ts'

const JSON_TYPE = 'application/json'
const TYPES = [JSON_TYPE, 'text/markdown', 'text/plain']

const { invalid, failed, unreadable } = SHARED_RESPONSES
const Part = Type.Object(
  {
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'Where to start in the content, in UTF-16 code units. Default 0.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'How much of the content at most, in UTF-16 code units. Default all.',
      }),
    ),
  },
  { additionalProperties: false },
)
const HEADERS = {
  ...SANDBOXED,
  ...VARY,
  'Total-Chars': Type.Integer({ description: 'With a part of a bare content: length of all of it.' }),
  'Next-Offset': Type.Integer({
    description: 'With a part of a bare content: `offset` of the next one, if there is one.',
  }),
}
const bare = { schema: Type.String({ description: 'The content, and nothing else.' }) }

export interface TargetRoutesOptions {
  readonly jobs: JobService
  readonly bodies: JobBodies
}

/** One target: as JSON, or its bare content; whole, or in parts. */
export const targetRoutes: FastifyPluginAsyncTypebox<TargetRoutesOptions> = async (app, { jobs, bodies }) => {
  await app.register(accepts)

  app.get(
    '/jobs/:id/targets/:idx',
    {
      schema: {
        ...JOBS,
        operationId: 'getTarget',
        summary: 'Read one target of a job, or its bare content',
        description:
          'JSON by default. With `Accept: text/markdown` or `text/plain` the content alone. `offset` and `limit` read a long content in parts: JSON then has `total_chars` and, unless it is the last part, `next_offset` beside the content.',
        params: Type.Object({
          ...JobId.properties,
          idx: Type.Unsafe<string>(
            Type.Integer({ minimum: 0, description: 'Place of the target in the submission, from 0.' }),
          ),
        }),
        querystring: Part,
        response: {
          200: {
            ...json(TargetView, 'The target.'),
            content: { ...json(TargetView, '').content, 'text/markdown': bare, 'text/plain': bare },
            headers: HEADERS,
          },
          404: { ...problemResponse('`job_not_found` or `target_not_found`.'), headers: VARY },
          406: problemResponse('`not_acceptable`: `Accept` names no type that there is.'),
          409: {
            ...problemResponse(
              '`no_content`: the target is pending or has failed, so there is no bare content or part.',
            ),
            headers: VARY,
          },
          422: invalid,
          500: failed,
          503: unreadable,
        },
      },
    },
    async (request, reply) => {
      const type = acceptedType(request, TYPES) ?? notAcceptable()
      void reply.header('vary', 'accept').header('cache-control', 'private, no-cache')
      const { caller, params, query } = request
      const target = targetAt(await jobs.get(caller, params.id), params.idx)
      const isPart = query.offset !== undefined || query.limit !== undefined
      if (type === JSON_TYPE && !isPart) {
        return sendBody(reply, 'application/json; charset=utf-8', bodies.target(params.id, target, { results: true }))
      }
      const result = await resultOf(jobs, params.id, target)
      const slice = sliceText(result.content, query.offset ?? 0, query.limit ?? Infinity)
      if (type !== JSON_TYPE) return sendBare(reply, type, slice)
      const part = { ...toTargetHead(target), result: { ...toPart(slice), meta: result.meta } }
      // Serialised here, not by the response schema, so that `meta` is the one of the whole target in any case.
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(part))
    },
  )
}

function notAcceptable(): never {
  throw new AppError('not_acceptable', 'The target cannot be had as what Accept asks for.', {
    hint: `Ask for ${TYPES.join(', ')}.`,
  })
}

/** @throws {AppError} `target_not_found` */
function targetAt({ targets }: JobSnapshot, idx: string): TargetRecord {
  const target = /^\d{1,6}$/.test(idx) ? targets[Number(idx)] : undefined
  if (target) return target
  throw new AppError('target_not_found', 'The job has no such target.', {
    hint: `Its targets are numbered from 0 to ${targets.length - 1}.`,
  })
}

/** @throws {AppError} `no_content`; `job_not_found` if the outcome was purged meanwhile */
async function resultOf(jobs: JobService, jobId: string, { idx, status }: TargetRecord): Promise<TargetResult> {
  if (status === 'done') {
    const outcome = await jobs.readOutcome(jobId, idx)
    if (!outcome) throw jobNotFound()
    return (JSON.parse(Buffer.from(outcome).toString()) as { result: TargetResult }).result
  }
  throw new AppError('no_content', status === 'failed' ? 'The target has failed.' : 'The target is still pending.', {
    hint: status === 'failed' ? 'Ask for JSON to see why.' : 'Wait for the job, or ask for JSON.',
  })
}

const toPart = ({ text, total, next }: TextSlice) => ({
  content: text,
  total_chars: total,
  ...(next === undefined ? {} : { next_offset: next }),
})

/** Foreign text under our own name: no browser may take it for a page. */
function sendBare(reply: FastifyReply, type: string, { text, total, next }: TextSlice): FastifyReply {
  void reply
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('total-chars', total)
  if (next !== undefined) void reply.header('next-offset', next)
  return reply.type(`${type}; charset=utf-8`).send(text)
}
