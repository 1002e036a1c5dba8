/** An old form of dates that is still to be read, in UTC without saying so (RFC 9110 §5.6.7). */
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/**
 * Milliseconds that a `Retry-After` header asks to wait, given in seconds or as a date; undefined if there is none, or
 * none that can be read.
 * @param now milliseconds since the Unix epoch.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(ASCTIME.test(text) ? `${text} GMT` : text.endsWith('GMT') ? text : '')
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
