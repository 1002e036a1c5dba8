import { type Ip, type IpRange, isInRange, lastIpv4, parseIp } from '../ip.ts'

const MAPPED_IPV4: IpRange = { family: 6, bits: 0xffff_0000_0000n, length: 96 }
/** An address with the port that some proxies add, or in the brackets of a URL. */
const WITH_PORT = /^(?:\[(?<six>[^\]]+)\](?::\d{1,5})?|(?<four>[\d.]+):\d{1,5})$/

/**
 * What tells clients without a name apart: the IPv4 address, or the /64 of an IPv6 one, since whoever has one address of
 * it has them all. Each proxy that is trusted is believed about the hop before it, by `X-Forwarded-For`; what stands
 * further left may be made up.
 * @param peer the other end of the connection.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | readonly string[] | undefined,
  trusted: readonly IpRange[],
): string {
  const hops = [forwardedFor ?? []].flat().join(',').split(',').toReversed()
  let client = parseHop(peer ?? '')
  for (const hop of hops) {
    const isTrusted = client !== undefined && trusted.some((range) => client && isInRange(client, range))
    const before = isTrusted ? parseHop(hop) : undefined
    if (before === undefined) break // Also where a proxy wrote no address: then all behind it are one client.
    client = before
  }
  return client === undefined ? 'unknown' : toText(client)
}

function parseHop(hop: string): Ip | undefined {
  const text = hop.trim()
  const { six, four } = WITH_PORT.exec(text)?.groups ?? {}
  const ip = parseIp((six ?? four ?? text).replace(/%.*$/, ''))
  return ip && isInRange(ip, MAPPED_IPV4) ? parseIp(lastIpv4(ip)) : ip
}

function toText(ip: Ip): string {
  if (ip.family === 4) return lastIpv4(ip)
  const network = (ip.bits >> 64n).toString(16).padStart(16, '0')
  return `${network.replace(/(.{4})(?=.)/g, '$1:')}::/64`
}
