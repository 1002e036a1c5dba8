import { type Static, Type } from '@sinclair/typebox'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import { AppError, ERROR_CODES, type ErrorCode } from '../errors.ts'
import { Ref, StringEnum } from '../schema.ts'

/** Seconds a client had better wait before it tries a refused submission again. */
const RETRY_AFTER_S = 5

const ProblemCode = StringEnum(ERROR_CODES, {
  $id: 'ProblemCode',
  description: 'Kind of a problem. Stable; branch on this one. `GET /problems/{code}` explains it.',
})

const Fault = Type.Object(
  {
    pointer: Type.String({ format: 'json-pointer', description: 'Where the fault is (RFC 6901).' }),
    detail: Type.String({ description: 'What is wrong there, in one sentence.' }),
  },
  { $id: 'Fault', description: 'One fault of a request.' },
)

/** RFC 9457 problem details, with members of our own. */
const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: 'Page that explains this kind of problem.' }),
    title: Type.String({ description: 'The kind of problem in words.' }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The status of the response.' }),
    detail: Type.String({ description: 'What happened this time.' }),
    code: Ref(ProblemCode),
    request_id: Type.Optional(Type.String({ description: 'The id under which the log has the request.' })),
    hint: Type.Optional(Type.String({ description: 'What to try next.' })),
    limit: Type.Optional(Type.Integer({ description: 'The limit that was reached.' })),
    cap: Type.Optional(Type.String({ description: 'Name of the cap that was reached.' })),
    jobs: Type.Optional(Type.Array(Type.String(), { description: 'With 429: ids of your live jobs.' })),
    retry_after_s: Type.Optional(
      Type.Integer({
        description: 'With 429: seconds until a place is expected to come free, by the pace of the live jobs.',
      }),
    ),
    errors: Type.Optional(
      Type.Array(Ref(Fault), { maxItems: 20, description: 'With `validation_failed`: every fault, at most 20.' }),
    ),
  },
  { $id: 'Problem', description: 'Problem details (RFC 9457).' },
)
type Problem = Static<typeof Problem>

/** The only place that knows which status an error answers with. A code without an entry does not compile. */
export const RESPONSES: Record<ErrorCode, { status: number; title: string }> = {
  invalid_json: { status: 400, title: 'Body is not JSON' },
  unauthorized: { status: 401, title: 'No valid API key' },
  cross_origin: { status: 403, title: 'Page of another origin' },
  not_found: { status: 404, title: 'No such resource' },
  job_not_found: { status: 404, title: 'No such job' },
  target_not_found: { status: 404, title: 'No such target' },
  method_not_allowed: { status: 405, title: 'No such method' },
  not_acceptable: { status: 406, title: 'No such representation' },
  job_finished: { status: 409, title: 'Job already finished' },
  job_not_finished: { status: 409, title: 'Job still running' },
  nothing_to_retry: { status: 409, title: 'Nothing to retry' },
  no_content: { status: 409, title: 'Target has no content' },
  body_too_large: { status: 413, title: 'Body too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  misdirected_request: { status: 421, title: 'Not our name' },
  validation_failed: { status: 422, title: 'Request is not valid' },
  too_many_targets: { status: 422, title: 'Too many targets' },
  caller_busy: { status: 429, title: 'Caller has a live job' },
  jobs_busy: { status: 429, title: 'Service is busy' },
  internal_error: { status: 500, title: 'Internal error' },
  programs_unchecked: { status: 503, title: 'Programs could not be checked' },
  too_many_followers: { status: 503, title: 'Too many followers' },
  shutting_down: { status: 503, title: 'Service is shutting down' },
  storage_full: { status: 503, title: 'Storage is full' },
  storage_unavailable: { status: 503, title: 'Storage is unavailable' },
}

/** How Fastify's own refusals are told. Whatever else it throws is a bug, or answered as one. */
const FASTIFY_ERRORS: Partial<Record<string, () => AppError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new AppError('body_too_large', 'The body is larger than 512 KiB.', { hint: 'Split the list into several jobs.' }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => unsupportedMediaType(),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new AppError('invalid_json', 'The body is not as long as its Content-Length says.'),
  FST_ERR_BAD_URL: () => new AppError('not_found', 'There is nothing at this URL.'),
}

export function unsupportedMediaType(): AppError {
  return new AppError('unsupported_media_type', 'The body is of a kind that is not read here.', {
    hint: 'Send JSON, with Content-Type: application/json.',
  })
}

/**
 * An error response as OpenAPI wants it: described, and with its own media type.
 * @param description every code in it that stands in backticks gets an example in the OpenAPI document.
 */
export const problemResponse = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: Ref(Problem) } },
})

/** What is not an `AppError` is a bug: the caller gets a bare 500, the log gets the error. */
export function toProblem(error: AppError): Problem {
  const { status, title } = RESPONSES[error.code]
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  return {
    type: `/problems/${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    ...hint,
    ...error.members,
  }
}

function toAppError(error: FastifyError | AppError): AppError {
  if (error instanceof AppError) return error
  const known = FASTIFY_ERRORS[error.code]
  return known?.() ?? new AppError('internal_error', 'The service failed; its log has the cause.', { cause: error })
}

/** Of the 5xx, those that are no fault of the service: whoever watches the log need do nothing. */
const FAULTLESS: ReadonlySet<ErrorCode> = new Set(['shutting_down', 'programs_unchecked', 'too_many_followers'])

/** Logs what failed unless it is the client's to know. */
export function logFailure(error: FastifyError | AppError, { log }: Pick<FastifyRequest, 'log'>): void {
  const appError = toAppError(error)
  const isFault = RESPONSES[appError.code].status >= 500 && !FAULTLESS.has(appError.code)
  if (isFault) log.error({ err: appError }, 'request failed')
}

/** Answers a request with problem details. */
export function sendProblem(
  error: FastifyError | AppError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const appError = toAppError(error)
  const problem = { ...toProblem(appError), request_id: request.id }
  logFailure(appError, request)
  if (problem.status === 429 || problem.status === 503) {
    void reply.header('retry-after', problem.retry_after_s ?? RETRY_AFTER_S)
  }
  void reply.removeHeader('etag') // It names what could not be read after all.
  // Serialised here, not by the response schema, which would drop what it does not name.
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem))
}

/** Turns whatever a route throws into problem details, and logs what the caller is not told. */
export const problemPlugin = fp(
  async (app) => {
    for (const schema of [ProblemCode, Fault, Problem]) app.addSchema(schema)
    app.setErrorHandler<FastifyError | AppError>(sendProblem)
  },
  { name: 'problem' },
)
