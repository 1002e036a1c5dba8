import { type IpRange, isInRange, lastIpv4, parseIp, parseRange } from '../../ip.ts'
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
  '6to4',
  'teredo',
  'isatap',
])
/** The well-known prefix, without which a network of IPv6 alone reaches little of the web. */
const NAT64: IpRange = { family: 6, bits: 0x64_ff9bn << 96n, length: 96 }

/**
 * A list that gives away nothing by being wide: metadata addresses stay denied, in any spelling, and NAT64 leads only
 * to IPv4 addresses that may be fetched themselves.
 * @throws {Error} for an entry that is not a range.
 */
export function createAllowList(entries: readonly string[]): AllowList {
  const ranges = parseCidrs(entries)
  const covers = (address: string): boolean => {
    const ip = parseIp(address)
    if (ip === undefined || !ranges.some((range) => isInRange(ip, range))) return false
    const name = classifyAddress(address)
    if (name !== 'nat64') return !NEVER.has(name)
    const inner = lastIpv4(ip)
    return isInRange(ip, NAT64) && (classifyAddress(inner) === 'public' || covers(inner))
  }
  return { isEmpty: ranges.length === 0, covers }
}
