/**
 * Milliseconds that a `Retry-After` header asks to wait, given in seconds or as a date; undefined if there is none, or
 * none that can be read.
 * @param now milliseconds since the Unix epoch.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const at = text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
