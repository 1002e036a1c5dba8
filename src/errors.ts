/** Part of the API: add codes, never rename one. */
export const ERROR_CODES = [
  'invalid_json',
  'not_found',
  'job_not_found',
  'target_not_found',
  'job_finished',
  'body_too_large',
  'unsupported_media_type',
  'validation_failed',
  'too_many_targets',
  'caller_busy',
  'jobs_busy',
  'internal_error',
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
