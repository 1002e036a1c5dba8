import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { AppError, validationFailed } from '../../errors.ts'
import { assertTargetCount } from '../../jobs/limits.ts'
import { JobList, JobView, Submission, TARGETS_VALIDATED_MAX } from '../../jobs/schema.ts'
import type { JobService, Submitted } from '../../jobs/service.ts'
import { isFinal } from '../../jobs/states.ts'
import type { JobSnapshot } from '../../jobs/store.ts'
import { Ref, StringEnum } from '../../schema.ts'
import { jobTag, matchesTag } from '../etag.ts'
import type { JobBodies, JobBodyView } from '../job-body.ts'
import { preferredWaitMs } from '../prefer.ts'
import { problemResponse, unsupportedMediaType } from '../problem.ts'
import {
  bodiless,
  CallerHeader,
  ENTITY_TAG,
  JobId,
  JOBS,
  json,
  LOCATION,
  NoQuery,
  PREFERENCE_APPLIED,
  RETRY_AFTER,
  SHARED_RESPONSES,
  WaitHeaders,
} from '../route-schemas.ts'
import { closeSignal, sendBody } from '../streaming.ts'

/** Seconds a client had better wait before it asks for a live job again. */
const POLL_AFTER_S = 1
const LIST_LIMIT = { default: 20, maximum: 100 } as const

const { invalid, unknownJob, failed, unreadable, unavailable } = SHARED_RESPONSES
const submitted = {
  200: { ...json(JobView, 'The job has ended.'), headers: { ...LOCATION, ...PREFERENCE_APPLIED } },
  202: { ...json(JobView, 'The job is running.'), headers: { ...LOCATION, ...RETRY_AFTER, ...PREFERENCE_APPLIED } },
}
const busy = {
  ...problemResponse(
    '`caller_busy` or `jobs_busy`: `cap` and `limit` say which, `jobs` names your live jobs, `retry_after_s` estimates when a place comes free.',
  ),
  headers: RETRY_AFTER,
}

export interface JobRoutesOptions {
  readonly jobs: JobService
  readonly bodies: JobBodies
  readonly targetsPerJobMax: number
}

/** Submit, retry, list, read and cancel. */
export const jobRoutes: FastifyPluginAsyncTypebox<JobRoutesOptions> = async (app, options) => {
  const { jobs, bodies, targetsPerJobMax } = options

  const sendJob = (reply: FastifyReply, snapshot: JobSnapshot, view: JobBodyView) => {
    if (!isFinal(snapshot.job.status)) void reply.header('retry-after', POLL_AFTER_S)
    return sendBody(reply, 'application/json; charset=utf-8', bodies.job(snapshot, view))
  }
  /** The job, once it has ended if that is preferred. Tells the client if the wait was granted. */
  const waitFor = async (request: FastifyRequest, reply: FastifyReply, id: string) => {
    const waitMs = preferredWaitMs(request)
    if (waitMs === 0) return jobs.get(request.caller, id)
    const { snapshot, granted } = await jobs.wait(request.caller, id, waitMs, closeSignal(reply))
    if (granted) void reply.header('preference-applied', `wait=${waitMs / 1_000}`)
    return snapshot
  }
  /** Answers with the job that was submitted. */
  const sendSubmitted = async (request: FastifyRequest, reply: FastifyReply, { snapshot, created }: Submitted) => {
    const { id } = snapshot.job
    const latest = request.headers.prefer === undefined ? snapshot : await waitFor(request, reply, id)
    void reply.code(isFinal(latest.job.status) ? 200 : 202).header('location', `/jobs/${id}`)
    return sendJob(reply, latest, { reused: !created, results: true })
  }

  app.post(
    '/jobs',
    {
      schema: {
        ...JOBS,
        operationId: 'submitJob',
        summary: 'Submit a batch of targets',
        description:
          'Starts a job that fetches the targets one at a time, in order. The same submission again gives the same job while its results are kept. A body of `text/uri-list` holds one URL a line.',
        headers: WaitHeaders,
        querystring: NoQuery,
        consumes: ['application/json', 'text/uri-list'],
        body: Ref(Submission),
        response: {
          ...submitted,
          400: problemResponse('`invalid_json`: the body does not parse.'),
          413: problemResponse('`body_too_large`: the body is larger than 512 KiB.'),
          415: problemResponse('`unsupported_media_type`: the body is neither JSON nor a list of URLs.'),
          422: problemResponse('`validation_failed`, or `too_many_targets` with the `limit`.'),
          429: busy,
          500: failed,
          503: unavailable,
        },
      },
      preValidation: async ({ body, headers }) => {
        if (body === undefined) {
          if (!isJson(headers['content-type'])) throw unsupportedMediaType()
          throw new AppError('invalid_json', 'The body is empty.', { hint: 'Send a JSON object with `targets`.' })
        }
        const count = countTargets(body)
        if (count > TARGETS_VALIDATED_MAX) assertTargetCount(count, targetsPerJobMax)
      },
    },
    async (request, reply) => sendSubmitted(request, reply, await jobs.submit(request.caller, request.body)),
  )

  app.post(
    '/jobs/:id/retry',
    {
      schema: {
        ...JOBS,
        operationId: 'retryJob',
        summary: 'Fetch again what failed or never ran',
        description:
          'Starts a job of those targets of a finished job that failed or are pending, with the same options. Retrying a job again gives the same job while its results are kept.',
        headers: WaitHeaders,
        params: JobId,
        querystring: NoQuery,
        response: {
          ...submitted,
          404: unknownJob,
          409: problemResponse('`job_not_finished`, or `nothing_to_retry`: every target is done.'),
          413: problemResponse('`body_too_large`: a body means nothing here.'),
          415: problemResponse('`unsupported_media_type`: a body means nothing here.'),
          400: problemResponse('`invalid_json`: a body means nothing here.'),
          422: problemResponse('`validation_failed`, or `too_many_targets` with the `limit`.'),
          429: busy,
          500: failed,
          503: unavailable,
        },
      },
    },
    async (request, reply) => {
      assertNoBody(request.body)
      return sendSubmitted(request, reply, await jobs.retry(request.caller, request.params.id))
    },
  )

  app.get(
    '/jobs',
    {
      schema: {
        ...JOBS,
        operationId: 'listJobs',
        summary: 'List your jobs',
        description: 'Newest first, without their targets. `next` leads to the page after this one.',
        querystring: Type.Object(
          {
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_LIMIT.maximum, description: 'Default 20.' })),
            after: Type.Optional(
              Type.String({
                pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
                description: 'Continue after this id: the `next` of the page before.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 200: json(JobList, 'A page of jobs.'), 422: invalid, 500: failed, 503: unreadable },
      },
    },
    async ({ caller, query: { limit = LIST_LIMIT.default, after } }) => {
      const { jobs: page, next } = await jobs.list(caller, limit, after)
      return { jobs: page.map(bodies.summary), ...(next === undefined ? {} : { next }) }
    },
  )

  app.get(
    '/jobs/:id',
    {
      schema: {
        ...JOBS,
        operationId: 'getJob',
        summary: 'Read a job',
        description:
          'The job and its targets, with the results of those that are done so far. `Prefer: wait=N` holds the answer until the job has ended; `If-None-Match` asks for it only if it has changed.',
        headers: Type.Object({
          ...WaitHeaders.properties,
          'if-none-match': Type.Optional(
            Type.String({ description: 'Entity tags that you have.', examples: ['W/"running-1"'] }),
          ),
        }),
        params: JobId,
        querystring: Type.Object(
          {
            view: Type.Optional(
              StringEnum(['full', 'summary'], { description: '`summary` leaves the results out. Default `full`.' }),
            ),
          },
          { additionalProperties: false },
        ),
        response: {
          200: { ...json(JobView, 'The job.'), headers: { ...ENTITY_TAG, ...RETRY_AFTER, ...PREFERENCE_APPLIED } },
          304: { ...bodiless('The job is as you have it.'), headers: { ...ENTITY_TAG, ...PREFERENCE_APPLIED } },
          404: unknownJob,
          422: invalid,
          500: failed,
          503: unreadable,
        },
      },
    },
    async (request, reply) => {
      const { params, query, headers } = request
      const snapshot = await waitFor(request, reply, params.id)
      const tag = jobTag(snapshot.job)
      void reply.header('etag', tag).header('cache-control', 'private, no-cache')
      if (matchesTag(headers['if-none-match'], tag)) return reply.code(304).send()
      return sendJob(reply, snapshot, { results: query.view !== 'summary' })
    },
  )

  app.delete(
    '/jobs/:id',
    {
      schema: {
        ...JOBS,
        operationId: 'cancelJob',
        summary: 'Cancel a job',
        description:
          'The target in flight is finished and kept; later ones stay pending. Cancelling again changes nothing.',
        headers: CallerHeader,
        params: JobId,
        querystring: NoQuery,
        response: {
          200: json(JobView, 'The job, now cancelled.'),
          404: unknownJob,
          409: problemResponse('`job_finished`: it had ended before.'),
          413: problemResponse('`body_too_large`: a body means nothing here.'),
          422: invalid,
          500: failed,
          503: { ...problemResponse('`storage_full` or `storage_unavailable`.'), headers: RETRY_AFTER },
        },
      },
    },
    async ({ caller, params }, reply) => sendJob(reply, await jobs.cancel(caller, params.id), { results: true }),
  )
}

const isJson = (type = ''): boolean => /^application\/json\s*(?:;|$)/i.test(type)

/** What a body would ask for must not be dropped in silence; an empty object or list asks for nothing. */
function assertNoBody(body: unknown): void {
  const isEmpty = typeof body === 'object' && body !== null && Object.values(body).flat().length === 0
  if (body === undefined || body === null || isEmpty) return
  throw validationFailed([{ pointer: '', detail: 'This request takes no body: a retry has the options of the job.' }])
}

function countTargets(body: unknown): number {
  const targets = typeof body === 'object' && body !== null && 'targets' in body ? body.targets : undefined
  return Array.isArray(targets) ? targets.length : 0
}
