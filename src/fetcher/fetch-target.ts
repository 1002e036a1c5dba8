import { STATUS_CODES } from 'node:http'

import type { Clock } from '../clock.ts'
import type { FetchTarget } from '../jobs/fetch-target.ts'
import type { TargetMeta } from '../jobs/schema.ts'
import { TargetError } from '../jobs/target-error.ts'
import type { Conversion, SourceDocument } from './convert/document.ts'
import type { FetchedResponse } from './network/response.ts'

export interface FetcherOptions {
  /** Guarded, bounded in size; ends when the signal aborts. */
  readonly request: (url: string, signal: AbortSignal) => Promise<FetchedResponse>
  /** Isolated, bounded in time and memory; ends when the signal aborts. */
  readonly convert: (source: SourceDocument, signal: AbortSignal) => Promise<Conversion>
  readonly clock: Clock
  /** UTF-8 bytes of content kept; more is cut off and flagged. */
  readonly contentBytesMax: number
}

/** Builds the real fetch: request, then convert. */
export function createFetchTarget({ request, convert, clock, contentBytesMax }: FetcherOptions): FetchTarget {
  return async ({ url, options }, signal) => {
    try {
      const startedAt = clock.now()
      const response = await request(url, signal)
      assertSuccess(response)
      const fetchedAt = clock.now()
      const { body, contentType } = response
      const converted = await convert({ body, url: response.url, contentType, mode: options.mode ?? 'auto' }, signal)
      if ('failure' in converted) throw new TargetError(converted.failure.code, converted.failure.message)
      const content = cut(converted.content, contentBytesMax)
      const truncated = content.length < converted.content.length
      const meta: TargetMeta = {
        final_url: response.url,
        http_status: response.status,
        ...converted.meta,
        bytes: body.byteLength,
        fetched_at: new Date(fetchedAt).toISOString(),
        duration_ms: Math.max(0, clock.now() - startedAt),
        attempts: response.attempts,
        ...(truncated ? { truncated } : {}),
        ...(converted.warnings.length > 0 ? { warnings: [...converted.warnings] } : {}),
      }
      return { result: { content, meta } }
    } catch (error) {
      if (error instanceof TargetError) return { failure: error.toFailure() }
      throw error
    }
  }
}

/** @throws {TargetError} `http_NNN`, `empty` */
function assertSuccess({ status, body }: FetchedResponse): void {
  if (status < 200 || status > 299) {
    throw new TargetError(`http_${status}`, `The server answered ${status}${reason(status)}.`)
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

/** The reason phrase of RFC 9110 for a status, with a space before it, or nothing. */
function reason(status: number): string {
  const phrase = STATUS_CODES[status]
  return phrase === undefined ? '' : ` ${phrase}`
}
