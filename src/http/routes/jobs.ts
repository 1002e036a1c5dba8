import { Readable } from 'node:stream'

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TSchema, Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'

import { AppError } from '../../errors.ts'
import { assertTargetCount } from '../../jobs/limits.ts'
import { JobList, JobView, Submission, TargetView, TARGETS_VALIDATED_MAX } from '../../jobs/schema.ts'
import type { JobService } from '../../jobs/service.ts'
import { isFinal } from '../../jobs/states.ts'
import type { JobSnapshot } from '../../jobs/store.ts'
import { Ref, StringEnum } from '../../schema.ts'
import { CALLER_ID_PATTERN, callerPlugin } from '../caller.ts'
import { jobBody, targetBody, toJobSummary } from '../job-body.ts'
import { problemResponse, unsupportedMediaType } from '../problem.ts'

/** Seconds a client had better wait before it asks for a live job again. */
const POLL_AFTER_S = 1
const LIST_LIMIT = { default: 20, maximum: 100 } as const

const Id = Type.String({ description: 'Id of a job.' })
const CallerHeader = Type.Object({
  'x-caller-id': Type.Optional(
    Type.String({
      pattern: CALLER_ID_PATTERN,
      description: 'Names the caller. Without it the caller is the address of the client.',
    }),
  ),
})

const COMMON = { tags: ['jobs'], headers: CallerHeader }
const invalid = problemResponse('`validation_failed`: `errors` lists every fault.')
const unknownJob = problemResponse('`job_not_found`: there is no such job, or it is not yours, or it has expired.')
const failed = problemResponse('`internal_error`: the service failed; its log has the cause.')

export interface JobRoutesOptions {
  readonly jobs: JobService
  readonly targetsPerJobMax: number
}

/** Submit, list, read and cancel. */
export const jobRoutes: FastifyPluginAsyncTypebox<JobRoutesOptions> = async (app, { jobs, targetsPerJobMax }) => {
  await app.register(callerPlugin)

  const sendJob = (reply: FastifyReply, snapshot: JobSnapshot, view: { reused?: boolean; results: boolean }) => {
    if (!isFinal(snapshot.job.status)) void reply.header('retry-after', POLL_AFTER_S)
    return sendJson(reply, jobBody(snapshot, jobs.readOutcome, view))
  }

  app.post(
    '/jobs',
    {
      schema: {
        ...COMMON,
        operationId: 'submitJob',
        summary: 'Submit a batch of targets',
        description:
          'Starts a job that fetches the targets one at a time, in order. The same submission again gives the same job while its results are kept.',
        body: Ref(Submission),
        response: {
          200: { ...json(JobView, 'The same submission was made before, and its job has ended.'), headers: LOCATION },
          202: { ...json(JobView, 'The job is running.'), headers: { ...LOCATION, ...RETRY_AFTER } },
          400: problemResponse('`invalid_json`: the body does not parse.'),
          413: problemResponse('`body_too_large`: the body is larger than 512 KiB.'),
          415: problemResponse('`unsupported_media_type`: the body is not JSON.'),
          422: problemResponse('`validation_failed`, or `too_many_targets` with the `limit`.'),
          429: {
            ...problemResponse('`caller_busy` names your live `jobs`; `jobs_busy`. Both tell the `limit`.'),
            headers: RETRY_AFTER,
          },
          500: failed,
          503: problemResponse('`shutting_down`, `storage_full` or `storage_unavailable`.'),
        },
      },
      preValidation: async ({ body, headers }) => {
        if (body === undefined) {
          if (headers['content-type'] === undefined) throw unsupportedMediaType()
          throw new AppError('invalid_json', 'The body is empty.', { hint: 'Send a JSON object with `targets`.' })
        }
        const count = countTargets(body)
        if (count > TARGETS_VALIDATED_MAX) assertTargetCount(count, targetsPerJobMax)
      },
    },
    async (request, reply) => {
      const { snapshot, created } = await jobs.submit(request.caller, request.body)
      const { id, status } = snapshot.job
      void reply.code(!created && isFinal(status) ? 200 : 202).header('location', `/jobs/${id}`)
      return sendJob(reply, snapshot, { reused: !created, results: true })
    },
  )

  app.get(
    '/jobs',
    {
      schema: {
        ...COMMON,
        operationId: 'listJobs',
        summary: 'List your jobs, newest first, without their targets',
        querystring: Type.Object(
          {
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_LIMIT.maximum, description: 'Default 20.' })),
            after: Type.Optional(
              Type.String({
                format: 'uuid',
                maxLength: 64,
                description: 'Continue after this id: the `next` of the page before.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: json(JobList, 'A page of jobs.'), 422: invalid, 500: failed },
      },
    },
    async ({ caller, query: { limit = LIST_LIMIT.default, after } }) => {
      const { jobs: page, next } = await jobs.list(caller, limit, after)
      return { jobs: page.map(toJobSummary), ...(next === undefined ? {} : { next }) }
    },
  )

  app.get(
    '/jobs/:id',
    {
      schema: {
        ...COMMON,
        operationId: 'getJob',
        summary: 'Read a job and its targets, with what is finished so far',
        params: Type.Object({ id: Id }),
        querystring: Type.Object(
          {
            view: Type.Optional(
              StringEnum(['full', 'summary'], { description: '`summary` leaves the results out. Default `full`.' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: { ...json(JobView, 'The job.'), headers: RETRY_AFTER },
          404: unknownJob,
          422: invalid,
          500: failed,
        },
      },
    },
    async ({ caller, params, query }, reply) =>
      sendJob(reply, await jobs.get(caller, params.id), { results: query.view !== 'summary' }),
  )

  app.get(
    '/jobs/:id/targets/:idx',
    {
      schema: {
        ...COMMON,
        operationId: 'getTarget',
        summary: 'Read one target of a job',
        params: Type.Object({
          id: Id,
          idx: Type.Unsafe<string>(
            Type.Integer({ minimum: 0, description: 'Place of the target in the submission, from 0.' }),
          ),
        }),
        response: {
          200: json(TargetView, 'The target.'),
          404: problemResponse('`job_not_found` or `target_not_found`.'),
          422: invalid,
          500: failed,
        },
      },
    },
    async ({ caller, params: { id, idx } }, reply) => {
      const { targets } = await jobs.get(caller, id)
      const target = /^\d{1,6}$/.test(idx) ? targets[Number(idx)] : undefined
      if (!target) {
        throw new AppError('target_not_found', 'The job has no such target.', {
          hint: `Its targets are numbered from 0 to ${targets.length - 1}.`,
        })
      }
      return sendJson(reply, targetBody(id, target, jobs.readOutcome))
    },
  )

  app.delete(
    '/jobs/:id',
    {
      schema: {
        ...COMMON,
        operationId: 'cancelJob',
        summary: 'Cancel a job',
        description:
          'The target in flight is finished and kept; later ones stay pending. Cancelling again changes nothing.',
        params: Type.Object({ id: Id }),
        response: {
          200: json(JobView, 'The job, now cancelled.'),
          404: unknownJob,
          409: problemResponse('`job_finished`: it had ended before.'),
          413: problemResponse('`body_too_large`: a body means nothing here.'),
          422: invalid,
          500: failed,
          503: problemResponse('`storage_full` or `storage_unavailable`.'),
        },
      },
    },
    async ({ caller, params }, reply) => sendJob(reply, await jobs.cancel(caller, params.id), { results: true }),
  )
}

const json = <T extends TSchema>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema: Ref(schema) } },
})
const LOCATION = { Location: Type.String({ format: 'uri-reference', description: 'Where to read the job.' }) }
const RETRY_AFTER = { 'Retry-After': Type.Integer({ description: 'Seconds to wait before the next request.' }) }

function countTargets(body: unknown): number {
  const targets = typeof body === 'object' && body !== null && 'targets' in body ? body.targets : undefined
  return Array.isArray(targets) ? targets.length : 0
}

function sendJson(reply: FastifyReply, pieces: AsyncIterable<string | Uint8Array>): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(Readable.from(pieces, { highWaterMark: 1 })) // Reads no outcome ahead of a slow client.
}
