import { after, type Clock } from '../../clock.ts'
import { TimeLimitError } from '../../time-limit.ts'
import type { Network } from '../network/network.ts'

/**
 * The same requests, but each answer, of redirects, too, has to be there `ms` milliseconds after its request was sent.
 * How long a request waits to be admitted does not count.
 * @throws {TimeLimitError}
 */
export function withAnswerLimit(request: Network['request'], ms: number, clock: Clock): Network['request'] {
  return (url, signal, admit) => {
    const late = new AbortController()
    return request(url, AbortSignal.any([signal, late.signal]), async (next, limited) => {
      const leave = await admit?.(next, limited)
      const callOff = after(ms, clock, () => late.abort(new TimeLimitError(`No answer within ${ms} ms.`)))
      return () => {
        callOff()
        leave?.()
      }
    })
  }
}
