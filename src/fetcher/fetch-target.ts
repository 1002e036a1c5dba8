import type { Clock } from '../clock.ts'
import type { FetchTarget } from '../jobs/fetch-target.ts'
import { parsePageRanges } from '../jobs/page-ranges.ts'
import type { Answer, Mode, Recovered, TargetMeta, TargetOptions, TargetResult } from '../jobs/schema.ts'
import { TargetError } from '../jobs/target-error.ts'
import { TimeLimitError, withTimeLimit } from '../time-limit.ts'
import { type Answered, modelAnswer, quoteAnswer } from './answer.ts'
import type { Archive } from './archive/archive.ts'
import type { Conversion, Converted } from './convert/document.ts'
import type { Kept } from './filter/filter.ts'
import type { Converter } from './isolation/converter.ts'
import { ModelError } from './model/model-error.ts'
import type { Model } from './model/model.ts'
import type { FetchedResponse } from './network/response.ts'
import { isSuccess, statusText } from './network/status.ts'
import { type PatientRequest, withTries } from './patient-request.ts'
import { isRecoverable, joined, recover } from './recover.ts'

/** Milliseconds of a target that are kept for what follows a conversion. */
const MARGIN_MS = 1_000
/** Modes whose content is JSON whatever the document is. */
const JSON_MODES: ReadonlySet<Mode> = new Set<Mode>(['links', 'metadata'])

export interface FetcherOptions {
  /** Guarded, bounded in size, with tries as the time left allows; ends when the signal aborts. */
  readonly request: PatientRequest
  /** Isolated, bounded in time and memory; ends when the signal aborts. */
  readonly converter: Pick<Converter, 'convert' | 'filter'>
  /** For `recover`. */
  readonly archive: Archive
  /** For `question`; without one, passages are quoted. */
  readonly model?: Model | undefined
  readonly clock: Clock
  /** UTF-8 bytes of content kept; more is cut off and flagged. */
  readonly contentBytesMax: number
  /** Milliseconds after which the runner gives the target up. */
  readonly targetTimeoutMs: number
}

/** A document that came and could be read. */
interface Obtained {
  readonly response: FetchedResponse
  readonly fetchedAt: number
  readonly converted: Converted
  readonly recovered?: Recovered
}

/** Builds the real fetch: request, convert, or recover from an archive; then filter, then answer. */
export function createFetchTarget(options: FetcherOptions): FetchTarget {
  const { clock, contentBytesMax, targetTimeoutMs } = options
  return async ({ url, options: asked }, signal) => {
    const startedAt = clock.now()
    const timeLeft = () => Math.max(0, startedAt + targetTimeoutMs - MARGIN_MS - clock.now())
    try {
      const { response, fetchedAt, converted, recovered } = await obtain(url, asked, options, timeLeft, signal)
      const kept = await filtered(converted, asked, options, timeLeft, signal)
      const { content, ...found } = await answered(kept, asked, options, timeLeft, signal)
      const stored = cut(content, contentBytesMax)
      const truncated = stored.length < content.length || converted.meta.truncated === true
      const warnings = [...converted.warnings, ...pagesWarning(asked, converted), ...found.warnings]
      const meta: TargetMeta = {
        final_url: response.url,
        http_status: response.status,
        ...converted.meta,
        ...(kept.matches === undefined ? {} : { matches: kept.matches }),
        ...(found.answer === undefined ? {} : { answer: withinContent(found.answer, stored.length) }),
        ...(recovered === undefined ? {} : { recovered }),
        bytes: response.body.byteLength,
        fetched_at: new Date(fetchedAt).toISOString(),
        duration_ms: Math.max(0, clock.now() - startedAt),
        attempts: response.attempts,
        ...(truncated ? { truncated } : {}),
        ...(warnings.length > 0 ? { warnings } : {}),
      }
      const result: TargetResult = { content: stored, meta }
      return { result }
    } catch (error) {
      if (error instanceof TargetError) return { failure: error.toFailure() }
      throw error
    }
  }
}

/** @throws {TargetError} */
async function obtain(
  url: string,
  asked: TargetOptions,
  { request, converter, archive, clock }: FetcherOptions,
  timeLeft: () => number,
  signal: AbortSignal,
): Promise<Obtained> {
  const read = async (response: FetchedResponse, limited: AbortSignal): Promise<Obtained> => {
    const fetchedAt = clock.now()
    assertSuccess(response)
    const { body, contentType } = response
    const pages = asked.pages === undefined ? undefined : parsePageRanges(asked.pages)
    const source = { body, url: response.url, contentType, mode: modeOf(asked), pages }
    const conversion = await converter.convert(source, limited, timeLeft())
    return { response, fetchedAt, converted: assertConverted(conversion, asked) }
  }
  if (asked.recover !== true) return read(await request(url, signal, timeLeft), signal)

  // A server that keeps silent must leave time for the archive.
  const pageMsMax = timeLeft() / 2
  const pageEndsAt = clock.now() + pageMsMax
  const pageTimeLeft = () => Math.max(0, pageEndsAt - clock.now())
  const ask = (limited: AbortSignal) => request(url, limited, pageTimeLeft)
  let response: FetchedResponse | undefined
  try {
    response = await withTimeLimit(pageMsMax, clock, signal, ask, () => silent(pageMsMax))
    return await read(response, signal)
  } catch (error) {
    if (!(error instanceof TargetError) || !isLost(error, response)) throw error
    const page = { url, error, status: response?.status }
    const askArchive = (limited: AbortSignal) => recover(page, { archive, convert: read }, limited)
    const { value, recovered } = await withTimeLimit(timeLeft(), clock, signal, askArchive, () => unanswered(error))
    return { ...value, recovered }
  }
}

/** Whether an archive may have what is missing. What came with success and cannot be converted, it would have the same. */
const isLost = ({ code }: TargetError, response: FetchedResponse | undefined): boolean =>
  code === 'soft_404' || (isRecoverable(code) && (response === undefined || !isSuccess(response.status)))

const silent = (ms: number) =>
  new TargetError('timeout', `The server did not answer within ${Math.round(ms / 1_000)} s.`)

const unanswered = ({ code, message, hint }: TargetError) =>
  new TargetError(code, joined(message, 'the archive did not answer in time'), { hint })

/** `jq` reads the document itself, unless it is asked for on something that is JSON whatever the document is. */
const modeOf = ({ mode = 'auto', jq }: TargetOptions): Mode => (jq === undefined || JSON_MODES.has(mode) ? mode : 'raw')

/** @throws {TargetError} */
function assertConverted(conversion: Conversion, { jq }: TargetOptions): Converted {
  if (!('failure' in conversion)) return conversion
  const { code, message } = conversion.failure
  throw new TargetError(jq !== undefined && code === 'unsupported_type' ? 'not_json' : code, message)
}

/** @throws {TargetError} `not_json`, `filter_failed`, `filter_timeout` */
async function filtered(
  { content, isMarkdown }: Converted,
  { jq, grep, question, context }: TargetOptions,
  { converter }: FetcherOptions,
  timeLeft: () => number,
  signal: AbortSignal,
): Promise<Kept> {
  if (jq === undefined && grep === undefined && question === undefined) return { content, warnings: [] }
  const input = { converted: { content, isMarkdown }, options: { jq, grep, question, context } }
  const filtering = await converter.filter(input, signal, timeLeft())
  if ('failure' in filtering) throw new TargetError(filtering.failure.code, filtering.failure.message)
  return filtering
}

type WithAnswer = Pick<Kept, 'content' | 'warnings'> & { readonly answer?: Answered['answer'] }

/** Answers the question if there is one: by the model, or by the passages if it fails or there is none. */
async function answered(
  { content, passages, warnings }: Kept,
  { question }: TargetOptions,
  { model, clock }: FetcherOptions,
  timeLeft: () => number,
  signal: AbortSignal,
): Promise<WithAnswer> {
  if (question === undefined || passages === undefined) return { content, warnings }
  if (passages.length === 0) {
    return { ...quoteAnswer([]), warnings: [...warnings, 'No passage of the page shares a word with the question.'] }
  }
  if (model === undefined) return { ...quoteAnswer(passages), warnings }
  const ask = (limited: AbortSignal) => model.answer(question, passages, limited)
  try {
    const { text, cited, truncated } = await withTimeLimit(timeLeft(), clock, signal, ask)
    const answer = modelAnswer(
      text,
      model.name,
      cited.flatMap((index) => passages[index] ?? []),
    )
    return { ...answer, warnings: [...warnings, ...(truncated ? ['The end of the answer is missing.'] : [])] }
  } catch (error) {
    if (!(error instanceof ModelError || error instanceof TimeLimitError)) throw error
    const warning = `The model gave no answer, so passages are quoted instead. ${error.message}`
    return { ...quoteAnswer(passages), warnings: [...warnings, warning] }
  }
}

/** Without the places that were cut off with the end of the content. */
const withinContent = (answer: Answer, length: number): Answer => ({
  ...answer,
  passages: answer.passages.map(({ start, end, ...passage }) =>
    start !== undefined && end !== undefined && end <= length ? { ...passage, start, end } : passage,
  ),
})

function pagesWarning({ pages }: TargetOptions, { meta }: Converted): string[] {
  return pages !== undefined && meta.pages_total === undefined
    ? ['The document has no pages, so `pages` changes nothing.']
    : []
}

/** @throws {TargetError} `http_NNN`, `empty` */
function assertSuccess({ status, body, attempts }: FetchedResponse): void {
  if (!isSuccess(status)) {
    throw new TargetError(`http_${status}`, withTries(`The server answered ${statusText(status)}.`, attempts))
  }
  if (body.byteLength === 0) throw new TargetError('empty', 'The server answered without a body.')
}

/** At most `bytesMax` bytes of UTF-8 from the start of `text`, ending on a whole character. */
function cut(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text
  const bytes = Buffer.from(text)
  let end = bytesMax
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1
  return bytes.toString('utf8', 0, end)
}
