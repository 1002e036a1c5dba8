import { TargetError } from '../../jobs/target-error.ts'
import type { Guard } from './guard.ts'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status)
}

/**
 * Where a redirect leads, checked like the first URL. It inherits the fragment unless it sets one.
 * @param location the header, a character for each byte, as HTTP has it.
 * @throws {TargetError} `bad_redirect`, `blocked_address`, `blocked_port`
 */
export function redirectUrl(from: URL, location: string | undefined, guard: Guard): URL {
  if (location === undefined) throw new TargetError('bad_redirect', 'The server redirects without saying where to.')
  try {
    const url = guard.checkUrl(decodeLocation(location), from)
    if (url.hash === '') url.hash = from.hash
    return url
  } catch (error) {
    if (!(error instanceof TargetError) || error.code !== 'invalid_url') throw error
    throw new TargetError('bad_redirect', 'The server redirects to something that cannot be fetched.', { cause: error })
  }
}

/** Servers send raw UTF-8, some raw Latin-1; what is valid UTF-8 by chance in Latin-1 hardly occurs. */
function decodeLocation(location: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(location, 'latin1'))
  } catch {
    return location
  }
}
