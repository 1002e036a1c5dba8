import { text } from 'node:stream/consumers'

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { Clock } from '../../clock.ts'
import type { FollowStep } from '../../jobs/follow.ts'
import type { JobService } from '../../jobs/service.ts'
import type { JobBodies } from '../job-body.ts'
import { bodiless, CallerHeader, JobId, JOBS, NoQuery, SHARED_RESPONSES, STREAMED } from '../route-schemas.ts'
import { closeSignal, sendBody, sendPieces } from '../streaming.ts'

/** Milliseconds between comments that an event stream sends, so that proxies keep it open. */
const KEEP_ALIVE_MS = 15_000
/** `Last-Event-ID` of the last event there is. */
const END_ID = 'end'
/** Milliseconds after which a client that was cut off comes back. */
const COME_BACK_MS = 1_000

const { invalid, unknownJob, failed, crowded } = SHARED_RESPONSES

export interface ResultRoutesOptions {
  readonly jobs: JobService
  readonly bodies: JobBodies
  readonly clock: Clock
}

/** Outcomes as they come: a line each, or an event each. */
export const resultRoutes: FastifyPluginAsyncTypebox<ResultRoutesOptions> = async (app, { jobs, bodies, clock }) => {
  app.get(
    '/jobs/:id/results',
    {
      schema: {
        ...JOBS,
        operationId: 'streamResults',
        summary: 'Read finished targets as JSON Lines, in order',
        description:
          'Each line is a target with its outcome. With `follow=true` the answer stays open and gets a line as each target finishes; it ends with the job, or when the service stops: go on with `from` then.',
        params: JobId,
        querystring: Type.Object(
          {
            from: Type.Optional(
              Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'First target wanted. Default 0.' }),
            ),
            follow: Type.Optional(Type.Boolean({ description: 'Wait for those to come. Default false.' })),
          },
          { additionalProperties: false },
        ),
        response: {
          200: {
            description: 'Finished targets, each a `TargetView` on a line.',
            content: {
              'application/x-ndjson': {
                schema: Type.String({ description: 'JSON texts, each on a line that ends with a line feed.' }),
              },
            },
            headers: STREAMED,
          },
          404: unknownJob,
          422: invalid,
          500: failed,
          503: crowded,
        },
      },
    },
    async ({ caller, params: { id }, query: { from = 0, follow = false } }, reply) => {
      const closed = closeSignal(reply)
      const steps = follow ? await jobs.follow(caller, id, from, closed) : finished(await jobs.get(caller, id), from)
      void reply.header('cache-control', 'private, no-store').header('x-accel-buffering', 'no')
      const send = follow ? sendPieces : sendBody
      return send(reply, 'application/x-ndjson; charset=utf-8', toLines(id, steps, bodies))
    },
  )

  app.get(
    '/jobs/:id/events',
    {
      schema: {
        ...JOBS,
        operationId: 'streamEvents',
        summary: 'Follow a job by server-sent events',
        description:
          'An event `target` for each outcome, in order, without its result, and an event `job` when the job has ended. A client that comes back with `Last-Event-ID` gets what it has missed and nothing twice; after the last event it gets 204, which tells it to stay away.',
        headers: Type.Object({
          ...CallerHeader.properties,
          'last-event-id': Type.Optional(
            Type.String({ pattern: '^(?:\\d{1,7}|end)$', description: 'The last event that you got.' }),
          ),
        }),
        params: JobId,
        querystring: NoQuery,
        response: {
          200: {
            description: 'Events; the data of `target` is a `TargetView`, that of `job` a `JobSummary`.',
            content: {
              'text/event-stream': { schema: Type.String({ description: 'An event stream of the HTML standard.' }) },
            },
            headers: STREAMED,
          },
          204: bodiless('There are no further events.'),
          404: unknownJob,
          422: invalid,
          500: failed,
          503: crowded,
        },
      },
    },
    async ({ caller, params: { id }, headers }, reply) => {
      const last = headers['last-event-id']
      if (last === END_ID) {
        await jobs.get(caller, id)
        return reply.code(204).send()
      }
      const closed = closeSignal(reply)
      const steps = await jobs.follow(caller, id, last === undefined ? 0 : Number(last), closed)
      void reply.header('cache-control', 'private, no-store').header('x-accel-buffering', 'no')
      return sendPieces(reply, 'text/event-stream', toEvents(id, steps, { bodies, clock, closed }))
    },
  )
}

/** The targets that have an outcome now. */
async function* finished(
  { targets }: Awaited<ReturnType<JobService['get']>>,
  from: number,
): AsyncGenerator<FollowStep> {
  for (const target of targets.slice(from)) if (target.status !== 'pending') yield { target }
}

async function* toLines(id: string, steps: AsyncGenerator<FollowStep>, bodies: JobBodies) {
  yield '' // Sends the header at once.
  for await (const step of steps) {
    if ('job' in step) return
    yield* bodies.target(id, step.target, { results: true })
    yield '\n'
  }
}

interface EventOptions {
  readonly bodies: JobBodies
  readonly clock: Clock
  readonly closed: AbortSignal
}

/** The id of the event of target i is i + 1: what comes next. Each event is one piece, as there may be many streams. */
async function* toEvents(id: string, steps: AsyncGenerator<FollowStep>, { bodies, clock, closed }: EventOptions) {
  const over = new AbortController()
  const until = AbortSignal.any([closed, over.signal])
  const silence = () =>
    clock.delay(KEEP_ALIVE_MS, until).then(
      () => 'over' as const,
      () => coming, // The client has gone, and what is followed ends.
    )
  yield `retry: ${COME_BACK_MS}\n\n` // Sends the header at once, too.
  let coming = steps.next()
  let pause = silence()
  try {
    for (;;) {
      const step = await Promise.race([coming, pause])
      if (step === 'over') {
        yield ': still here\n\n'
        pause = silence()
      } else {
        if (step.done) return
        yield await toEvent(id, step.value, bodies)
        coming = steps.next()
      }
    }
  } finally {
    over.abort()
  }
}

async function toEvent(id: string, step: FollowStep, bodies: JobBodies): Promise<string> {
  if ('job' in step) return `event: job\nid: ${END_ID}\ndata: ${JSON.stringify(bodies.summary(step.job))}\n\n`
  const data = await text(bodies.target(id, step.target, { results: false }))
  return `event: target\nid: ${step.target.idx + 1}\ndata: ${data}\n\n`
}
