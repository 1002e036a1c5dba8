import { networkInterfaces } from 'node:os'

import { parseIp } from '../../ip.ts'
import { classifyAddress } from './address.ts'

/** Milliseconds that a list of the interfaces is good for: one answer of a name server may hold thousands of addresses. */
const FRESH_MS = 1_000
/** The system takes these for itself as well. */
const UNSPECIFIED = ['0.0.0.0', '::']

export interface OwnAddressOptions {
  /** Lists the addresses of this machine's interfaces. */
  readonly read?: () => readonly string[]
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
}

/**
 * Tells the addresses of this machine's own interfaces, public or not, as they are now: they come and go. Those of the
 * loopback network are left out, since who allows them means this machine.
 */
export function createIsOwnAddress({
  read = interfaceAddresses,
  now = () => performance.now(),
}: OwnAddressOptions = {}): (address: string) => boolean {
  let own = new Set<string>()
  let readAt = -Infinity
  return (address) => {
    if (now() - readAt >= FRESH_MS) {
      own = new Set([...UNSPECIFIED, ...read().filter((one) => classifyAddress(one) !== 'loopback')].map(keyOf))
      readAt = now()
    }
    return own.has(keyOf(address))
  }
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
}

/** One text for all spellings of an address. */
function keyOf(address: string): string {
  const ip = parseIp(address)
  return ip === undefined ? address : `${ip.family}/${ip.bits}`
}
