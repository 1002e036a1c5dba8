import { type Static, Type } from '@sinclair/typebox'

import { Ref, StringEnum } from '../schema.ts'
import { JOB_STATUSES, TARGET_STATUSES, WEBHOOK_STATES } from './states.ts'
import { TARGET_ERRORS } from './target-error.ts'

/** Characters of a URL after percent-encoding. */
export const URL_LENGTH_MAX = 8_192
/** A list longer than this is refused before it is validated, so that no body can stall the validator. */
export const TARGETS_VALIDATED_MAX = 1_000

const MODES = ['auto', 'article', 'full', 'text', 'html', 'raw', 'links', 'metadata'] as const
export type Mode = (typeof MODES)[number]

/** Characters of a jq program, in UTF-16 code units. */
const JQ_LENGTH_MAX = 8_192
/** Characters of a `grep` pattern, in UTF-16 code units. */
const PATTERN_LENGTH_MAX = 1_000

/** How to turn a response into content. Every option may be left out; each does nothing until it is set. */
export const TargetOptions = Type.Object(
  {
    mode: Type.Optional(
      StringEnum(MODES, {
        description:
          'How the response becomes content. `auto` (default): HTML to Markdown of the main content, PDF to text by page, office files and tables to Markdown, feeds to a Markdown list, sitemaps to a list of URLs, JSON and other text as it is. `article`: the main content of an HTML page, or the target fails. `full`: the whole page as Markdown. `text`: plain text. `html`: the main content as clean HTML without scripts, styles and forms. `raw`: the decoded body untouched. `links`: JSON array of the links of the page, in its order and without duplicates, each with `url`, `text`, `rel` and `kind`. `metadata`: JSON object of what the page says about itself.',
      }),
    ),
    pages: Type.Optional(
      Type.String({
        format: 'page-ranges',
        maxLength: 256,
        description:
          'Pages of a PDF, from 1: `1-3,7`, `5-`, `-2` (the last two). Without it the first 500. On anything else a warning.',
        examples: ['1-3,7'],
      }),
    ),
    jq: Type.Optional(
      Type.String({
        format: 'jq',
        minLength: 1,
        maxLength: JQ_LENGTH_MAX,
        description:
          'A jq 1.7 program on JSON content: a JSON answer, JSON Lines, or the modes `links` and `metadata`. Its outputs, one a line, are the content. Numbers keep their digits. Without `env`, `input`, `import`. Bounded in time and memory.',
        examples: ['.items[].name'],
      }),
    ),
    grep: Type.Optional(
      Type.String({
        format: 're2',
        minLength: 1,
        maxLength: PATTERN_LENGTH_MAX,
        description:
          'Keep the lines of the content that match this RE2 expression. `meta.matches` counts them; none is an empty content, not a failure.',
        examples: ['(?i)licen[cs]e'],
      }),
    ),
    question: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        pattern: '\\S',
        description:
          'Answer this from the page. The content becomes the answer, and `meta.answer` says where on the page it stands: the passages that answer best, quoted exactly, or, if a model is configured, what it wrote from them.',
        examples: ['Who maintains the lighthouse?'],
      }),
    ),
    context: Type.Optional(
      Type.Boolean({
        description:
          'Default false. `true`: each `grep` match comes with the lines around it, and an answer with the text it rests on.',
      }),
    ),
    recover: Type.Optional(
      Type.Boolean({
        description:
          'Default false. `true`: when the page is gone or cannot be had, take its newest good copy from a web archive. `meta.recovered` says which.',
      }),
    ),
  },
  { $id: 'TargetOptions', additionalProperties: false, description: 'How to turn a response into content.' },
)
export type TargetOptions = Static<typeof TargetOptions>

/** One URL to fetch. */
export const Target = Type.Object(
  {
    url: Type.String({
      format: 'http-url',
      minLength: 1,
      maxLength: URL_LENGTH_MAX,
      description: 'Absolute http or https URL without credentials.',
      examples: ['https://example.com/article'],
    }),
    custom_id: Type.Optional(
      Type.String({
        format: 'text',
        minLength: 1,
        maxLength: 128,
        description: 'A name of your own for this target, unique in the job. It comes back with the outcome.',
        examples: ['page-1'],
      }),
    ),
    options: Type.Optional(Ref(TargetOptions)),
  },
  { $id: 'Target', additionalProperties: false, description: 'One URL to fetch.' },
)
export type Target = Static<typeof Target>

/** Whom to tell that a job has ended. */
export const Webhook = Type.Object(
  {
    url: Type.String({
      format: 'http-url',
      minLength: 1,
      maxLength: URL_LENGTH_MAX,
      description: 'Absolute http or https URL without credentials. Redirects are not followed.',
      examples: ['https://example.com/hooks/pagehaul'],
    }),
  },
  {
    $id: 'Webhook',
    additionalProperties: false,
    description:
      'Gets a signed POST (Standard Webhooks) with a `JobFinished` when the job has ended, however it did. At least once: tell repetitions by the header `webhook-id`.',
  },
)
export type Webhook = Static<typeof Webhook>

export const Submission = Type.Object(
  {
    targets: Type.Array(Ref(Target), {
      minItems: 1,
      maxItems: TARGETS_VALIDATED_MAX,
      'x-unique-by': 'custom_id',
      description: 'What to fetch, in this order. At most 32 unless the service is set otherwise.',
    }),
    options: Type.Optional(Ref(TargetOptions)),
    webhook: Type.Optional(Ref(Webhook)),
    reuse: Type.Optional(
      Type.Boolean({
        description:
          'Default true: the same targets with the same options give the job that already exists, while its results are kept, and it keeps the webhook that it was first sent with, or none. `false` asks for a new job.',
      }),
    ),
  },
  {
    $id: 'Submission',
    additionalProperties: false,
    description: 'A batch of targets. `options` are defaults, merged under the options of each target.',
  },
)
export type Submission = Static<typeof Submission>

/** One entry of the outline of a paged document. */
export const OutlineEntry = Type.Object(
  {
    title: Type.String(),
    level: Type.Integer({ minimum: 1, description: 'Depth, from 1.' }),
    page: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { $id: 'OutlineEntry' },
)
export type OutlineEntry = Static<typeof OutlineEntry>

/** A piece of the page that an answer rests on. */
export const Passage = Type.Object(
  {
    quote: Type.String({ description: 'Exactly as it stands in the content.' }),
    heading: Type.Array(Type.String(), { description: 'The headings above it, outermost first.' }),
    page: Type.Optional(Type.Integer({ minimum: 1, description: 'Page of a paged document.' })),
    score: Type.Number({ description: 'BM25 score; comparable within one answer only.' }),
    offset: Type.Integer({
      minimum: 0,
      description:
        'Where the quote starts in the content that the page gives without `question`, in UTF-16 code units.',
    }),
    start: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Where the quote starts in `content`, in UTF-16 code units. Absent if it is not quoted there.',
      }),
    ),
    end: Type.Optional(Type.Integer({ minimum: 0, description: 'Where it ends in `content`, exclusive.' })),
  },
  { $id: 'Passage', description: 'A piece of the page that an answer rests on.' },
)
export type Passage = Static<typeof Passage>

/** How `question` was answered. */
export const Answer = Type.Object(
  {
    method: StringEnum(['bm25', 'model'], {
      description: '`bm25`: the content quotes the passages below. `model`: a model wrote the content from them.',
    }),
    model: Type.Optional(Type.String({ description: 'Name of the model that answered.' })),
    passages: Type.Array(Ref(Passage), {
      description: 'Best first; for `model` those it cites, in the order of their numbers in the content.',
    }),
  },
  { $id: 'Answer', description: 'How `question` was answered.' },
)
export type Answer = Static<typeof Answer>

/** Where a copy came from when the page itself could not be had. */
export const Recovered = Type.Object(
  {
    archive: Type.String({ description: 'Host of the archive.' }),
    url: Type.String({ description: 'Address of the capture.' }),
    captured_at: Type.String({ format: 'date-time' }),
    original_status: Type.Optional(
      Type.Integer({ description: 'Status the page itself answered with now, if it answered.' }),
    ),
    reason: Type.String({ description: 'Error code that the page itself failed with.' }),
  },
  { $id: 'Recovered', description: 'Where a copy came from when the page itself could not be had.' },
)
export type Recovered = Static<typeof Recovered>

/** What is known about a fetched target beside its content. */
export const TargetMeta = Type.Object(
  {
    final_url: Type.String({
      description: 'The URL after redirects; for a recovered page the URL that was asked for.',
    }),
    http_status: Type.Integer({
      description:
        'Status of the final answer; for a recovered page that of the copy, while `recovered.original_status` has its own.',
    }),
    content_type: Type.Optional(Type.String({ description: 'Media type of the document, without parameters.' })),
    charset: Type.Optional(
      Type.String({ description: 'Character encoding the text was read with, by its WHATWG name.' }),
    ),
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    byline: Type.Optional(Type.String({ description: 'Who wrote it.' })),
    published: Type.Optional(Type.String({ description: 'When it was published, as the document says.' })),
    modified: Type.Optional(Type.String({ description: 'When it was last changed, as the document says.' })),
    language: Type.Optional(Type.String({ description: 'BCP 47 tag, as the document says.' })),
    site_name: Type.Optional(Type.String()),
    canonical_url: Type.Optional(Type.String({ description: 'The address the page gives as its own.' })),
    image: Type.Optional(Type.String({ description: 'Address of the picture that the page gives for itself.' })),
    pages_total: Type.Optional(Type.Integer({ minimum: 0, description: 'Pages of a paged document.' })),
    pages_done: Type.Optional(Type.Integer({ minimum: 0, description: 'Those of them that are in the content.' })),
    outline: Type.Optional(Type.Array(Ref(OutlineEntry), { description: 'Table of contents of a paged document.' })),
    matches: Type.Optional(Type.Integer({ minimum: 0, description: 'Lines that `grep` matched.' })),
    answer: Type.Optional(Ref(Answer)),
    recovered: Type.Optional(Ref(Recovered)),
    bytes: Type.Integer({ minimum: 0, description: 'Size of the decoded body.' }),
    fetched_at: Type.String({ format: 'date-time' }),
    duration_ms: Type.Integer({ minimum: 0, description: 'From the first look-up to the finished content.' }),
    attempts: Type.Integer({
      minimum: 1,
      description: 'Requests made for the document, redirects not counted; for a recovered page those for the copy.',
    }),
    truncated: Type.Optional(
      Type.Boolean({ description: 'True if the content is not all: cut at a limit of size, pages or time.' }),
    ),
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'What may be wrong with the content.' })),
  },
  { $id: 'TargetMeta' },
)
export type TargetMeta = Static<typeof TargetMeta>

/** What a fetched target gave. */
export const TargetResult = Type.Object(
  {
    content: Type.String({ description: 'Markdown, plain text or JSON, by the mode and the kind of document.' }),
    meta: Ref(TargetMeta),
    total_chars: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'With `offset` or `limit`: length of the whole content, in UTF-16 code units.',
      }),
    ),
    next_offset: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'With `offset` or `limit`: where the next part starts, if there is one.',
      }),
    ),
  },
  { $id: 'TargetResult' },
)
export type TargetResult = Static<typeof TargetResult>

export const TargetState = StringEnum(TARGET_STATUSES, {
  $id: 'TargetStatus',
  description: '`pending`: it has no outcome yet, and gets none once the job is final.',
})

const CODES = Object.keys(TARGET_ERRORS)
  .map((code) => `\`${code}\``)
  .join(', ')

/** Why a target gave nothing. */
export const TargetFailure = Type.Object({
  error: Type.String({
    pattern: '^[a-z_]+([0-9]{3})?$',
    description: `Stable code; branch on this one. \`http_404\` and its like carry the status that the site answered with. The others: ${CODES}. More may come.`,
    examples: ['http_404', 'timeout'],
  }),
  message: Type.String({ description: 'What happened, in one sentence.' }),
  hint: Type.String({ description: 'What to try next, in one sentence.' }),
})
export type TargetFailure = Static<typeof TargetFailure>

/** One target of a job. `result` is there if and only if it is done; `error`, `message` and `hint` if and only if it failed. */
export const TargetView = Type.Object(
  {
    idx: Type.Integer({ minimum: 0, description: 'Place in the submission, from 0.' }),
    custom_id: Type.Optional(Type.String()),
    url: Type.String({ description: 'As it was sent.' }),
    status: Ref(TargetState),
    result: Type.Optional(Ref(TargetResult)),
    ...Type.Partial(TargetFailure).properties,
  },
  {
    $id: 'TargetView',
    description:
      'One target of a job. `result` is there if and only if the target is done (and the view is not the summary); `error`, `message` and `hint` if and only if it failed.',
  },
)
export type TargetView = Static<typeof TargetView>

export const JobState = StringEnum(JOB_STATUSES, {
  $id: 'JobStatus',
  description:
    '`queued` and `running`: live. `done`: every target; `partial`: some targets failed; `failed`: all failed, or the job did (see `error`); `cancelled`: you ended it.',
})

/** How far the delivery of a webhook is. */
export const WebhookView = Type.Object(
  {
    url: Type.String({ description: 'As it was sent.' }),
    state: StringEnum(WEBHOOK_STATES, {
      description:
        '`pending`: the job runs, or another attempt follows. `delivered`: an answer was 2xx. `failed`: given up.',
    }),
    attempts: Type.Integer({ minimum: 0, description: 'Attempts made so far.' }),
    last_error: Type.Optional(
      Type.String({
        description:
          'Why the last attempt failed: an error code as targets have them, a colon, and a sentence. Absent once delivered.',
        examples: ['http_503: The server answered 503.'],
      }),
    ),
  },
  { $id: 'WebhookView', description: 'How far the delivery of a webhook is.' },
)
export type WebhookView = Static<typeof WebhookView>

/** A job without its targets. */
export const JobSummary = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    status: Ref(JobState),
    targets_total: Type.Integer({ minimum: 1 }),
    targets_done: Type.Integer({ minimum: 0, description: 'Targets with an outcome, done or failed.' }),
    targets_failed: Type.Integer({ minimum: 0, description: 'Those of `targets_done` that failed.' }),
    error: Type.Optional(
      StringEnum(['restart', 'internal'], {
        description:
          '`restart`: the service stopped while the job ran. `internal`: the service could not finish the job.',
      }),
    ),
    created_at: Type.String({ format: 'date-time' }),
    started_at: Type.Optional(Type.String({ format: 'date-time' })),
    finished_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'There if and only if the job is final.' }),
    ),
    expires_at: Type.String({ format: 'date-time', description: 'The job and its results are kept until then.' }),
    retry_of: Type.Optional(
      Type.String({ format: 'uuid', description: 'The job whose failed and pending targets this one fetches again.' }),
    ),
    webhook: Type.Optional(Ref(WebhookView)),
    worst_case_s: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'While the job is live: seconds in which it will have ended even if every target takes all its time.',
      }),
    ),
  },
  { $id: 'JobSummary', description: 'A job without its targets.' },
)
export type JobSummary = Static<typeof JobSummary>

/** A job that has ended, and where to read it. */
export const FinishedJob = Type.Object(
  {
    ...Type.Omit(JobSummary, ['webhook', 'worst_case_s']).properties,
    url: Type.String({
      format: 'uri-reference',
      description: 'Where to read the job: absolute if the operator has set PAGEHAUL_PUBLIC_URL, else a path.',
    }),
  },
  { $id: 'FinishedJob', description: 'A job that has ended, without its targets.' },
)

/** What a webhook is sent. The same for every attempt. */
export const JobFinished = Type.Object(
  {
    type: StringEnum(['job.finished'], { description: 'Ignore types that you do not know.' }),
    timestamp: Type.String({ format: 'date-time', description: 'When the job ended.' }),
    data: Ref(FinishedJob),
  },
  { $id: 'JobFinished', description: 'What a webhook is sent when its job has ended.' },
)
export type JobFinished = Static<typeof JobFinished>

/** A job and its targets, in the order they were sent. */
export const JobView = Type.Object(
  {
    ...JobSummary.properties,
    reused: Type.Optional(
      Type.Boolean({ description: 'In the answer to a submission: whether the job was there already.' }),
    ),
    targets: Type.Array(Ref(TargetView)),
  },
  { $id: 'JobView', description: 'A job and its targets, in the order they were sent.' },
)
export type JobView = Static<typeof JobView>

/** The caller's jobs, newest first. */
export const JobList = Type.Object(
  {
    jobs: Type.Array(Ref(JobSummary)),
    next: Type.Optional(Type.String({ description: 'Send it as `after` for the next page. Absent on the last one.' })),
  },
  { $id: 'JobList', description: 'Jobs of the caller, newest first.' },
)
export type JobList = Static<typeof JobList>
