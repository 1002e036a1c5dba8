import { isRetried, TargetError, type TargetErrorCode } from '../../jobs/target-error.ts'
import { TimeLimitError } from '../../time-limit.ts'
import { HOST_FAULTS } from '../network/errors.ts'
import { NoTurnError } from '../network/host-turns.ts'
import type { FetchedResponse } from '../network/response.ts'
import { isSuccess, statusText } from '../network/status.ts'
import { createPatientRequest, withTries } from '../patient-request.ts'
import { withAnswerLimit } from './answer-limit.ts'
import type { Policy } from './policy-cache.ts'
import type { RobotsOptions } from './robots.ts'
import { FILE_BYTES_MAX, parseRules } from './rules.ts'

/** Milliseconds for the answer to one request, from when it was sent. */
const ANSWER_MS_MAX = 20_000
/** Milliseconds that a file may be used (RFC 9309 §2.4). */
const KEEP_MS = 24 * 60 * 60 * 1_000
/** Milliseconds until a file is asked for again that could not be had, for what may pass. */
const KEEP_PASSING_MS = 5 * 60 * 1_000

/**
 * A file that redirects do not lead to counts as one that does not exist (RFC 9309 §2.3.1.2). So does one that they lead
 * to where the guard lets nothing go; if it is the host itself that is refused, its page will be, too.
 */
const OF_REDIRECTS: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  'bad_redirect',
  'redirect_loop',
  'too_many_redirects',
  'blocked_address',
  'blocked_port',
])

interface ReaderOptions extends Omit<RobotsOptions, 'userAgent'> {
  readonly token: string
}

/**
 * Reads what an origin lets programs do, when it is its turn at the host and with the tries of a page. Whatever keeps its
 * file from being read disallows all (RFC 9309 §2.3.1.4), a file of more than the network takes included, but for the
 * two sets above and the faults of the host, which the page would meet as well.
 */
export function createReadPolicy({ request, clock, token, ...options }: ReaderOptions) {
  const limited = withAnswerLimit(request, ANSWER_MS_MAX, clock)

  /**
   * @throws {TargetError} for a fault of the host, or if it was not its turn in time.
   * @throws the reason of the signal.
   */
  return async (origin: string, signal: AbortSignal, timeLeft: () => number): Promise<Policy> => {
    const { hostname } = new URL(origin)
    let asked = hostname
    const admit = async (next: URL) => {
      asked = next.hostname
    }
    const get = createPatientRequest({ ...options, request: limited, clock, admit })
    try {
      return await judge(await get(`${origin}/robots.txt`, signal, timeLeft), token, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof TimeLimitError) return silent()
      if (!(error instanceof TargetError) || error instanceof NoTurnError) throw error
      if (HOST_FAULTS.has(error.code) && asked === hostname) throw atRobots(error)
      if (OF_REDIRECTS.has(error.code)) return allAllowed(KEEP_PASSING_MS)
      const where = asked === hostname ? '' : `It redirects to ${asked}. `
      return { lack: where + error.message, keepMs: KEEP_PASSING_MS }
    }
  }
}

/** A status that is neither success nor a fault of the server says that there is no such file (RFC 9309 §2.3.1.3). */
async function judge({ status, body, attempts }: FetchedResponse, token: string, signal: AbortSignal): Promise<Policy> {
  if (isSuccess(status)) {
    const fileBytes = Math.min(body.byteLength, FILE_BYTES_MAX)
    return { rules: await parseRules(body, token, signal), fileBytes, keepMs: KEEP_MS }
  }
  if (status < 500) return allAllowed(isRetried(`http_${status}`) ? KEEP_PASSING_MS : KEEP_MS)
  return { lack: withTries(`The server answered ${statusText(status)}.`, attempts), keepMs: KEEP_PASSING_MS }
}

const allAllowed = (keepMs: number): Policy => ({ rules: [], fileBytes: 0, keepMs })

/** Not kept, since the server has said nothing. */
const silent = (): Policy => ({ lack: `No answer came within ${ANSWER_MS_MAX / 1_000} s.`, keepMs: 0 })

/** The same, and that it was not yet the page that was asked for. */
function atRobots({ code, message, hint, cause }: TargetError): TargetError {
  return new TargetError(code, message.replace(/\.$/, ', when its robots.txt was asked for.'), { hint, cause })
}
