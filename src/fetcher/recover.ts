import type { Recovered } from '../jobs/schema.ts'
import { TargetError, type TargetErrorCode } from '../jobs/target-error.ts'
import { ArchiveError } from './archive/archive-error.ts'
import type { Archive } from './archive/archive.ts'
import { HOST_FAULTS } from './network/errors.ts'
import type { FetchedResponse } from './network/response.ts'

/** Ways in which a server cannot be reached, or gives nothing that can be read. */
const LOST: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  ...HOST_FAULTS,
  'timeout',
  'connection_closed',
  'bad_response',
  'bad_encoding',
  'bad_redirect',
  'http_404',
  'http_410',
  'soft_404',
])

/**
 * Whether a page that failed so is gone or cannot be had, so that an archive may have what is missing. Not what a site
 * keeps from programs or strangers, and not what came and could not be converted; the `timeout` of a conversion, which
 * has the code of a silent server, is for the caller to tell apart.
 */
export function isRecoverable(code: TargetErrorCode): boolean {
  return LOST.has(code) || /^http_5\d\d$/.test(code)
}

/** A page that could not be had. */
export interface LostPage {
  /** As it was asked for. */
  readonly url: string
  readonly error: TargetError
  /** Status that the page answered with, if it did and `error` does not tell. */
  readonly status?: number | undefined
}

export interface RecoverOptions<T> {
  readonly archive: Archive
  /**
   * Reads a copy; a `TargetError` means that it is no good one. `url` is that of the page as it was asked for, the base
   * of its relative links.
   */
  readonly convert: (copy: FetchedResponse, signal: AbortSignal) => Promise<T>
}

/** What the newest good copy gave, and where it is from. */
export interface Recovery<T> {
  readonly value: T
  readonly recovered: Recovered
}

/**
 * Reads the newest good copy of a page in the archive.
 * @throws {TargetError} `not_in_archive`; the page's own error if the archive could not be asked, and its message says so.
 */
export async function recover<T>(
  page: LostPage,
  { archive, convert }: RecoverOptions<T>,
  signal: AbortSignal,
): Promise<Recovery<T>> {
  const { url, error } = page
  let newestFault: TargetError | undefined
  try {
    for await (const capture of archive.captures(url, signal)) {
      const value = await orFault(convert({ ...capture.response, url: new URL(url).href }, signal))
      if (!(value instanceof TargetError)) {
        const copy = { archive: archive.host, url: capture.url, captured_at: capture.capturedAt }
        return { value, recovered: { ...copy, ...lossOf(page) } }
      }
      newestFault ??= value
    }
  } catch (fault) {
    if (!(fault instanceof ArchiveError)) throw fault
    throw new TargetError(error.code, joined(error.message, fault.message), { hint: fault.hint, cause: fault })
  }
  throw notInArchive(error, newestFault)
}

function lossOf({ error: { code }, status }: LostPage): Pick<Recovered, 'original_status' | 'reason'> {
  const original = status ?? (code.startsWith('http_') ? Number(code.slice('http_'.length)) : undefined)
  return { ...(original === undefined ? {} : { original_status: original }), reason: code }
}

function notInArchive({ message }: TargetError, newestFault: TargetError | undefined): TargetError {
  const why = newestFault === undefined ? '' : ` (the newest one: ${newestFault.code})`
  return new TargetError('not_in_archive', joined(message, `the archive has no good copy${why}`), {
    cause: newestFault,
  })
}

async function orFault<T>(result: Promise<T>): Promise<T | TargetError> {
  try {
    return await result
  } catch (error) {
    if (error instanceof TargetError) return error
    throw error
  }
}

/** One sentence of two. @param sentence with a full stop. */
export const joined = (sentence: string, clause: string) => `${sentence.replace(/\.$/, '')}, and ${clause}.`
