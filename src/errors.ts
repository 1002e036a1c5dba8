/** Part of the API: add codes, never rename one. */
export const ERROR_CODES = [
  'invalid_json',
  'unauthorized',
  'cross_origin',
  'not_found',
  'job_not_found',
  'target_not_found',
  'method_not_allowed',
  'not_acceptable',
  'job_finished',
  'job_not_finished',
  'nothing_to_retry',
  'no_content',
  'body_too_large',
  'unsupported_media_type',
  'misdirected_request',
  'validation_failed',
  'too_many_targets',
  'caller_busy',
  'jobs_busy',
  'internal_error',
  'programs_unchecked',
  'too_many_followers',
  'shutting_down',
  'storage_full',
  'storage_unavailable',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

interface AppErrorOptions {
  /** What the caller can do next, in one sentence. */
  readonly hint?: string
  /** Extension members of the problem details (RFC 9457 §3.2), such as the `limit` that was reached. */
  readonly members?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** The caller's mistake or bad luck. `message`, `hint` and `members` are sent; `cause` is only logged. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly members: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, { hint, members = {}, cause }: AppErrorOptions = {}) {
    super(message, { cause })
    this.code = code
    this.hint = hint
    this.members = members
  }
}

/** Faults told in one answer. */
const FAULTS_MAX = 20

/** What is wrong with a request, and where. */
export interface Fault {
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string
  readonly detail: string
}

/** A request that is well-formed and refused. @param faults at least one; at most 20 are told. */
export function validationFailed(faults: readonly Fault[]): AppError {
  const [first] = faults
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  return new AppError('validation_failed', `${first?.pointer || 'The request'}: ${first?.detail}${more}`, {
    hint: 'Correct what `errors` lists and send the request again.',
    members: { errors: faults.slice(0, FAULTS_MAX) },
  })
}

/** A job that is not there, is somebody else's, or has expired: nobody is told which. */
export function jobNotFound(): AppError {
  return new AppError('job_not_found', 'There is no such job.', {
    hint: 'Check the id, and that you are the caller who submitted it; jobs are removed when they expire.',
  })
}
