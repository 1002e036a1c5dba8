import type { ErrorCode } from '../errors.ts'
import type { JobFinished, JobList, JobSummary, JobView, Submission, TargetView } from '../jobs/schema.ts'

/** Examples by name. */
type Named = Readonly<Record<string, unknown>>
/** By media type. */
type ByType = Readonly<Record<string, Named>>

export interface OperationExamples {
  readonly request?: ByType
  /** By status. Problems have examples of their own. */
  readonly responses: Readonly<Record<string, ByType>>
}

const ID = '019b7613-c400-7c1f-9d05-6d2f5f8f7a10'
const RETRY_ID = '019b7618-57e0-7b9e-a1c4-0f6a3f0c2d51'
const JSON_TYPE = 'application/json'

const live = {
  id: ID,
  status: 'running',
  targets_total: 2,
  targets_done: 0,
  targets_failed: 0,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-02T00:00:00.000Z',
  worst_case_s: 120,
} as const satisfies JobSummary

const ended = {
  id: ID,
  status: 'partial',
  targets_total: 2,
  targets_done: 2,
  targets_failed: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:00.000Z',
  finished_at: '2026-01-01T00:00:03.400Z',
  expires_at: '2026-01-02T00:00:03.400Z',
} as const satisfies JobSummary

const pending: TargetView[] = [
  { idx: 0, custom_id: 'tides', url: 'https://example.com/tides', status: 'pending' },
  { idx: 1, url: 'https://example.com/gone', status: 'pending' },
]

const done = {
  idx: 0,
  custom_id: 'tides',
  url: 'https://example.com/tides',
  status: 'done',
  result: {
    content: '# Tides\n\nHigh water at noon.',
    meta: {
      final_url: 'https://example.com/tides',
      http_status: 200,
      content_type: 'text/html',
      charset: 'UTF-8',
      title: 'Tides',
      language: 'en',
      bytes: 5_120,
      fetched_at: '2026-01-01T00:00:01.200Z',
      duration_ms: 1_200,
      attempts: 1,
    },
  },
} as const satisfies TargetView

const failed = {
  idx: 1,
  url: 'https://example.com/gone',
  status: 'failed',
  error: 'http_404',
  message: 'The server answered 404 Not Found.',
  hint: 'The page is gone; `recover: true` asks a web archive for a copy.',
} as const satisfies TargetView

const submission: Submission = {
  targets: [{ url: 'https://example.com/tides', custom_id: 'tides' }, { url: 'https://example.com/gone' }],
}
const withOptions: Submission = {
  targets: [
    { url: 'https://example.com/report.pdf', options: { pages: '1-3,7' } },
    { url: 'https://example.com/items.json', options: { jq: '.items[].name' } },
  ],
  options: { recover: true },
  reuse: false,
}

const running: JobView = { ...live, reused: false, targets: pending }
const finished: JobView = { ...ended, targets: [done, failed] }
const cancelled: JobView = {
  ...live,
  status: 'cancelled',
  targets_done: 1,
  finished_at: '2026-01-01T00:00:01.500Z',
  targets: [done, { idx: 1, url: 'https://example.com/gone', status: 'pending' }],
}
const retried: JobView = {
  ...live,
  id: RETRY_ID,
  reused: false,
  retry_of: ID,
  targets_total: 1,
  worst_case_s: 60,
  targets: [{ idx: 0, url: 'https://example.com/gone', status: 'pending' }],
}
const list: JobList = { jobs: [{ ...live, id: RETRY_ID }, ended], next: ID }

const lines = [done, failed].map((target) => `${JSON.stringify(target)}\n`).join('')
const { result: _, ...doneHead } = done
const events = [
  ': pagehaul',
  `event: target\nid: 1\ndata: ${JSON.stringify(doneHead)}`,
  `event: target\nid: 2\ndata: ${JSON.stringify(failed)}`,
  `event: job\nid: end\ndata: ${JSON.stringify(ended)}`,
].map((event) => `${event}\n\n`)

const part: TargetView = {
  ...done,
  result: { ...done.result, content: '# Tides', total_chars: done.result.content.length, next_offset: 7 },
}

/** What a webhook is sent. */
export const JOB_FINISHED_EXAMPLE: JobFinished = {
  type: 'job.finished',
  timestamp: ended.finished_at,
  data: { ...ended, url: `/jobs/${ID}` },
}

/** Of each operation, by its id: what the OpenAPI document shows of requests and successful responses. */
export const EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  submitJob: {
    request: {
      [JSON_TYPE]: { urls: submission, options: withOptions },
      'text/uri-list': { urls: '# One URL a line\nhttps://example.com/tides\nhttps://example.com/gone\n' },
    },
    responses: {
      200: { [JSON_TYPE]: { reused: { ...finished, reused: true } } },
      202: { [JSON_TYPE]: { started: running } },
    },
  },
  retryJob: {
    responses: {
      200: { [JSON_TYPE]: { ended: { ...finished, reused: false, retry_of: RETRY_ID } } },
      202: { [JSON_TYPE]: { started: retried } },
    },
  },
  listJobs: { responses: { 200: { [JSON_TYPE]: { page: list } } } },
  getJob: { responses: { 200: { [JSON_TYPE]: { live: { ...live, targets: pending }, ended: finished } } } },
  cancelJob: { responses: { 200: { [JSON_TYPE]: { cancelled } } } },
  getTarget: {
    responses: {
      200: {
        [JSON_TYPE]: { done, failed, part },
        'text/markdown': { content: done.result.content },
        'text/plain': { content: done.result.content },
      },
    },
  },
  streamResults: { responses: { 200: { 'application/x-ndjson': { lines } } } },
  streamEvents: { responses: { 200: { 'text/event-stream': { events: events.join('') } } } },
  getLiveness: { responses: { 200: { [JSON_TYPE]: { ok: { status: 'ok' } } } } },
  getReadiness: { responses: { 200: { [JSON_TYPE]: { ok: { status: 'ok' } } } } },
  getMetrics: {
    responses: {
      200: {
        'text/plain': {
          sample: [
            '# HELP pagehaul_jobs_live Jobs that are being drained.',
            '# TYPE pagehaul_jobs_live gauge',
            'pagehaul_jobs_live 1',
            '',
          ].join('\n'),
        },
      },
    },
  },
  getProblem: {
    responses: {
      200: {
        [JSON_TYPE]: {
          request: {
            code: 'job_not_found',
            kind: 'request',
            title: 'No such job',
            status: 404,
            meaning: 'There is no such job, or it belongs to another caller, or it has expired.',
            remedy:
              'Check the id and that you ask as the caller who submitted it; submit the targets again if it has expired.',
          },
          target: {
            code: 'dns_not_found',
            kind: 'target',
            title: 'DNS not found',
            meaning: 'The name does not exist or has no address.',
            remedy: 'Check the spelling of the host name; it has no address.',
          },
        },
        'text/html': { page: '<!doctype html>\n<html lang="en">\n<h1>No such job</h1>\n' },
      },
    },
  },
}

export const REQUEST_ID_EXAMPLE = 'aa2e9b1a-8f29-42f1-899f-4310857e1bf5'

interface ProblemExample {
  readonly detail: string
  readonly hint?: string
  readonly members?: Readonly<Record<string, unknown>>
}

/** One problem of each code. */
export const PROBLEM_EXAMPLES: Readonly<Record<ErrorCode, ProblemExample>> = {
  invalid_json: { detail: 'The body is not JSON: Unexpected end of JSON input.' },
  unauthorized: {
    detail: 'There is no API key in the request.',
    hint: 'Send the header `Authorization: Bearer` with your key.',
  },
  cross_origin: {
    detail: 'A web page of another origin cannot change anything here.',
    hint: 'Send the request from a program, or from a page of the same origin.',
  },
  misdirected_request: {
    detail: 'The service does not go by the name in the Host header.',
    hint: 'Use its address or `localhost`. Whoever runs it can add names with PAGEHAUL_ALLOWED_HOSTS, or set API keys.',
  },
  not_found: { detail: 'There is nothing at this URL.' },
  method_not_allowed: { detail: 'The path has no method PUT.', hint: 'The Allow header lists those it has.' },
  job_not_found: {
    detail: 'There is no such job.',
    hint: 'Check the id, and that you are the caller who submitted it; jobs are removed when they expire.',
  },
  target_not_found: { detail: 'The job has no such target.', hint: 'Its targets are numbered from 0 to 1.' },
  not_acceptable: {
    detail: 'The target cannot be had as what Accept asks for.',
    hint: 'Ask for application/json, text/markdown, text/plain.',
  },
  job_finished: { detail: 'The job has already ended as done.', hint: 'Its results can still be read.' },
  job_not_finished: { detail: 'The job has not ended yet.', hint: 'Wait for it, or cancel it first.' },
  nothing_to_retry: {
    detail: 'Every target of the job is done.',
    hint: 'To fetch them anew, submit them with `"reuse": false`.',
  },
  no_content: { detail: 'The target has failed.', hint: 'Ask for JSON to see why.' },
  body_too_large: { detail: 'The body is larger than 512 KiB.', hint: 'Split the list into several jobs.' },
  unsupported_media_type: {
    detail: 'The body is of a kind that is not read here.',
    hint: 'Send JSON, with Content-Type: application/json.',
  },
  validation_failed: {
    detail: '/targets/0/url: Only http and https URLs are fetched.',
    hint: 'Correct what `errors` lists and send the request again.',
    members: { errors: [{ pointer: '/targets/0/url', detail: 'Only http and https URLs are fetched.' }] },
  },
  too_many_targets: {
    detail: 'A job takes at most 32 targets; this one has 33.',
    hint: 'Split the list into several jobs.',
    members: { cap: 'targets_per_job', limit: 32 },
  },
  caller_busy: {
    detail: 'You have 1 live job; at most 1 may be live.',
    hint: 'Wait for one to finish, or cancel it.',
    members: { cap: 'jobs_per_caller', limit: 1, jobs: [ID], retry_after_s: 4 },
  },
  jobs_busy: {
    detail: 'The service has 8 live jobs; at most 8 may be live.',
    hint: 'Try again when one has had time to finish.',
    members: { cap: 'jobs_total', limit: 8, jobs: [], retry_after_s: 12 },
  },
  internal_error: { detail: 'The service failed; its log has the cause.' },
  programs_unchecked: {
    detail: 'The programs in the options could not be checked in time.',
    hint: 'Try again in a moment.',
  },
  too_many_followers: {
    detail: 'You follow jobs with 256 requests already, which is the most there may be.',
    hint: 'Poll the job, or come back later with `from` or `Last-Event-ID`: nothing is missed.',
    members: { cap: 'followers_per_caller', limit: 256 },
  },
  shutting_down: { detail: 'The service is shutting down.', hint: 'Try again in a moment.' },
  storage_full: {
    detail: 'The service has no room for more results.',
    hint: 'Try again later: expired jobs make room.',
  },
  storage_unavailable: {
    detail: 'The service cannot use its database.',
    hint: 'Try again later; the operator finds the cause in the log.',
  },
}
