import { isRetried, TargetError, type TargetErrorCode } from '../../jobs/target-error.ts'
import { TimeLimitError, withTimeLimit } from '../../time-limit.ts'
import type { FetchedResponse } from '../network/response.ts'
import { isSuccess, statusText } from '../network/status.ts'
import { withTries } from '../patient-request.ts'
import { retryPauseMs, TRIES_MAX } from '../retry-pause.ts'
import type { Policy } from './policy-cache.ts'
import type { RobotsOptions } from './robots.ts'
import { FILE_BYTES_MAX, parseRules } from './rules.ts'

/** Milliseconds for one robots.txt, with all tries. */
const ROBOTS_MS_MAX = 20_000

/** Faults of the host, which the page would meet as well, and refusals of the guard. They are thrown, not remembered. */
const OF_HOST: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  'blocked_address',
  'blocked_port',
  'dns_not_found',
  'dns_failure',
  'connect_refused',
  'connect_timeout',
  'unreachable',
  'tls_expired',
  'tls_wrong_host',
  'tls_untrusted',
  'tls_failed',
])
/** A file that redirects do not lead to counts as one that does not exist (RFC 9309 §2.3.1.2). */
const OF_REDIRECTS: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  'bad_redirect',
  'redirect_loop',
  'too_many_redirects',
])

/** Of a site without a robots.txt (RFC 9309 §2.3.1.3). */
const ALL_ALLOWED: Policy = { rules: [], fileBytes: 0 }

interface Attempt {
  readonly policy: Policy
  /** Whether the next try may give another one. */
  readonly mayPass: boolean
}

interface ReaderOptions extends Required<Omit<RobotsOptions, 'userAgent'>> {
  readonly token: string
}

/**
 * Reads what an authority lets programs do, with up to three tries. Whatever keeps its file from being read disallows
 * all (RFC 9309 §2.3.1.4), a file of more than the network takes included, but for the two sets above.
 */
export function createReadPolicy({ get, clock, token, random }: ReaderOptions) {
  async function attempt(url: string, signal: AbortSignal): Promise<Attempt> {
    try {
      return await judge(await get(url, signal), token, signal)
    } catch (error) {
      if (!(error instanceof TargetError)) throw error
      if (OF_HOST.has(error.code)) throw atRobots(error)
      if (OF_REDIRECTS.has(error.code)) return { policy: ALL_ALLOWED, mayPass: false }
      return { policy: { lack: error.message }, mayPass: isRetried(error.code) }
    }
  }

  async function tryAll(url: string, signal: AbortSignal): Promise<Policy> {
    for (let tries = 1; ; tries += 1) {
      const { policy, mayPass } = await attempt(url, signal)
      if (!('lack' in policy)) return policy
      if (!mayPass || tries === TRIES_MAX) return { lack: withTries(policy.lack, tries) }
      await clock.delay(retryPauseMs(tries, random), signal)
    }
  }

  /**
   * @throws {TargetError} for a fault of the host, which is left to the caller to try again.
   * @throws the reason of the signal.
   */
  return async (url: string, signal: AbortSignal): Promise<Policy> => {
    try {
      return await withTimeLimit(ROBOTS_MS_MAX, clock, signal, (limited) => tryAll(url, limited))
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error
      return { lack: `No answer came within ${ROBOTS_MS_MAX / 1_000} s.` }
    }
  }
}

/** A status that is neither success nor a fault of the server says that there is no such file (RFC 9309 §2.3.1.3). */
async function judge(response: FetchedResponse, token: string, signal: AbortSignal): Promise<Attempt> {
  const { status, headers, body } = response
  if (isSuccess(status)) {
    const fileBytes = Math.min(body.byteLength, FILE_BYTES_MAX)
    return { policy: { rules: await parseRules(body, token, signal), fileBytes }, mayPass: false }
  }
  if (status < 500) return { policy: ALL_ALLOWED, mayPass: false }
  // A server that says when to come back is not asked before.
  const mayPass = isRetried(`http_${status}`) && headers['retry-after'] === undefined
  return { policy: { lack: `The server answered ${statusText(status)}.` }, mayPass }
}

/** The same, and that it was not yet the page that was asked for. */
function atRobots({ code, message, hint, cause }: TargetError): TargetError {
  return new TargetError(code, message.replace(/\.$/, ', when its robots.txt was asked for.'), { hint, cause })
}
