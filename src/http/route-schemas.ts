import { type TSchema, Type } from '@sinclair/typebox'

import { Ref } from '../schema.ts'
import { CALLER_ID_PATTERN } from './caller.ts'
import { problemResponse } from './problem.ts'

/** Id of a job in a path. A malformed one names nothing, and answers as an unknown one does. */
export const JobId = Type.Object({
  id: Type.String({ description: 'Id of a job.', examples: ['019b7613-c400-7c1f-9d05-6d2f5f8f7a10'] }),
})

/** Of a route without query parameters, so that a misspelt one is refused there too. */
export const NoQuery = Type.Object({}, { additionalProperties: false })

export const CallerHeader = Type.Object({
  'x-caller-id': Type.Optional(
    Type.String({
      pattern: CALLER_ID_PATTERN,
      description:
        'Names the caller where the service has no API keys. Without it the caller is the address of the client, or the /64 network of an IPv6 one. With a key it means nothing.',
      examples: ['nightly-import'],
    }),
  ),
})

/** Headers of a request that may wait for its job. */
export const WaitHeaders = Type.Object({
  ...CallerHeader.properties,
  prefer: Type.Optional(
    Type.String({
      description:
        '`wait=N` (RFC 7240) waits up to N seconds, at most 50, for the job to end, and answers at once when it does. While 8 requests of a caller wait, or 64 of all, a further one is answered at once, without `Preference-Applied`.',
      examples: ['wait=30'],
    }),
  ),
})

export const JOBS = { tags: ['jobs'], headers: CallerHeader }

export const LOCATION = {
  Location: Type.String({ format: 'uri-reference', description: 'Where to read the job.' }),
}
export const RETRY_AFTER = {
  'Retry-After': Type.Integer({ minimum: 1, description: 'Seconds to wait before the next request.' }),
}
export const PREFERENCE_APPLIED = {
  'Preference-Applied': Type.String({ description: 'The wait that was granted, if one was asked for.' }),
}
export const ENTITY_TAG = {
  ETag: Type.String({
    description: 'Weak entity tag; changes with every outcome and status of the job and every attempt on its webhook.',
  }),
}
export const VARY = {
  Vary: Type.String({ description: '`accept`: the same URL has several representations.' }),
}
/** Headers of what is sent while it comes. */
export const STREAMED = {
  'X-Accel-Buffering': Type.String({ description: '`no`: proxies pass on each piece at once.' }),
}
/** Headers of foreign text under our own name. */
export const SANDBOXED = {
  'X-Content-Type-Options': Type.String({ description: '`nosniff`, with a bare content.' }),
  'Content-Security-Policy': Type.String({ description: 'With a bare content: no browser runs or loads anything.' }),
}

/** A response with a JSON body of this schema, which has a `$id`. */
export const json = <T extends TSchema>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema: Ref(schema) } },
})

/** A response without a body, which is what the type stands for. */
export const bodiless = (description: string) => ({ description, type: 'null' })

/** Responses that many operations share. */
export const SHARED_RESPONSES = {
  invalid: problemResponse('`validation_failed`: `errors` lists every fault.'),
  unknownJob: problemResponse('`job_not_found`: there is no such job, or it is not yours, or it has expired.'),
  crowded: {
    ...problemResponse(
      '`too_many_followers`: `cap` and `limit` say which; poll the job, or come back after the seconds in `Retry-After`. Or `storage_unavailable`.',
    ),
    headers: RETRY_AFTER,
  },
  failed: problemResponse('`internal_error`: the service failed; its log has the cause.'),
  unreadable: {
    ...problemResponse('`storage_unavailable`: the database cannot be read.'),
    headers: RETRY_AFTER,
  },
  unavailable: {
    ...problemResponse('`shutting_down`, `programs_unchecked`, `storage_full` or `storage_unavailable`.'),
    headers: RETRY_AFTER,
  },
}
