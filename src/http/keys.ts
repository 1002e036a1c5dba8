import { timingSafeEqual } from 'node:crypto'

import { type ApiKey, digestKey, isWellFormedKey } from '../api-key.ts'
import type { Clock } from '../clock.ts'

const BEARER = /^bearer +(\S+) *$/i

/** Why credentials are refused. */
export type KeyRefusal = 'missing' | 'mistyped' | 'unknown' | 'expired'

/** The keys that open the service. */
export interface KeyRing {
  /** Whose key an `Authorization` header holds (RFC 6750), or why it holds none. */
  check(authorization: string | undefined): { readonly name: string } | { readonly refusal: KeyRefusal }
}

/** @param keys their number bounds the time of a check: every one is looked at, whichever fits. */
export function createKeyRing(keys: readonly ApiKey[], clock: Clock): KeyRing {
  return {
    check(authorization = '') {
      const presented = BEARER.exec(authorization)?.[1]
      if (presented === undefined) return { refusal: 'missing' }
      if (!isWellFormedKey(presented)) return { refusal: 'mistyped' }
      const key = find(keys, digestKey(presented))
      if (key === undefined) return { refusal: 'unknown' }
      return clock.now() < (key.expiresAt ?? Infinity) ? { name: key.name } : { refusal: 'expired' }
    },
  }
}

/** Takes the same time wherever the key stands and however much of a wrong one fits. */
function find(keys: readonly ApiKey[], digest: Buffer): ApiKey | undefined {
  let found: ApiKey | undefined
  for (const key of keys) if (timingSafeEqual(key.digest, digest)) found = key
  return found
}
