import { type IpRange, isInRange, parseIp, parseRange } from '../../ip.ts'
import { type AddressClass, classifyAddress } from './address.ts'

/** Ranges that the operator allows although they are not public. */
export interface AllowList {
  readonly isEmpty: boolean
  /** Whether the address lies in a range of the list and may be reached by it. */
  covers(address: string): boolean
}

/**
 * Reads ranges in CIDR notation.
 * @throws {Error} that names every wrong entry.
 */
export function parseCidrs(entries: readonly string[]): IpRange[] {
  const wrong = entries.filter((entry) => parseRange(entry) === undefined)
  if (wrong.length > 0) {
    const names = wrong.map((entry) => JSON.stringify(entry)).join(', ')
    throw new Error(`Not a range of addresses: ${names}; write each like 10.1.0.0/16 or fd00::/8.`)
  }
  return entries.flatMap((entry) => parseRange(entry) ?? [])
}

/** Classes that are never allowed. Those of IPv6 are spellings of an IPv4 address, or tunnels to one, and hide it. */
const NEVER: ReadonlySet<AddressClass> = new Set([
  'metadata',
  'ipv4-mapped',
  'ipv4-compatible',
  'ipv4-translated',
  'nat64',
  '6to4',
  'teredo',
  'isatap',
])

/**
 * A list that gives away nothing by being wide: metadata addresses stay denied, in any spelling.
 * @throws {Error} for an entry that is not a range.
 */
export function createAllowList(entries: readonly string[]): AllowList {
  const ranges = parseCidrs(entries)
  return {
    isEmpty: ranges.length === 0,
    covers(address) {
      const ip = parseIp(address)
      return ip !== undefined && ranges.some((range) => isInRange(ip, range)) && !NEVER.has(classifyAddress(address))
    },
  }
}
