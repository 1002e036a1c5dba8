import type { FastifyRequest } from 'fastify'

/** Seconds that a request may wait; below the idle limit of common proxies. */
const WAIT_MAX_S = 50
/** A preference of RFC 7240 §2 with its parameters, up to the next comma that stands in no quoted string. */
const PREFERENCE = /(?:[^,"]|"[^"]*")+/g
/** The preference `wait`, its value plain or quoted; parameters after it are passed over. */
const WAIT = /^\s*wait\s*=\s*(?:"(\d+)"|(\d+))\s*(?:;.*)?$/i

/**
 * Milliseconds that the request wants to wait for its job to end, by `Prefer: wait=N` (RFC 7240 §4.3), N in seconds, at
 * most 50; 0 if it does not. Of several the first counts. What is not understood is passed over, as the standard says.
 */
export function preferredWaitMs({ headers }: FastifyRequest): number {
  const preferences = String(headers.prefer ?? '').match(PREFERENCE) ?? []
  const waits = preferences.flatMap((preference) => {
    const [, quoted, plain] = WAIT.exec(preference) ?? []
    return [quoted ?? plain ?? []].flat()
  })
  return Math.min(Number(waits[0] ?? 0), WAIT_MAX_S) * 1_000
}
