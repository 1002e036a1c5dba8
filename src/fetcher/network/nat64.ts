import { type IpRange, isInRange, lastIpv4, parseIp } from '../../ip.ts'

/** Whether addresses of NAT64 are followed: a network of IPv6 alone reaches the web of IPv4 by them. */
export type Nat64 = 'allow' | 'deny'

/** The well-known prefix of RFC 6052. Of a prefix that a network has chosen itself, nothing tells that it is one. */
const WELL_KNOWN: IpRange = { family: 6, bits: 0x64_ff9bn << 96n, length: 96 }

/** The IPv4 address that an address of NAT64 leads to, which is to be judged in its place; any other as it is. */
export function behindNat64(address: string): string {
  const ip = parseIp(address)
  return ip !== undefined && isInRange(ip, WELL_KNOWN) ? lastIpv4(ip) : address
}
