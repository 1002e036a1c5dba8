import { isIP } from 'node:net'

/** An address as a number, so that one shift compares it with a range. */
export interface Ip {
  readonly family: 4 | 6
  readonly bits: bigint
}

/** The addresses that share the first `length` bits of `bits`. */
export interface IpRange extends Ip {
  readonly length: number
}

const IP_WIDTH: Readonly<Record<Ip['family'], number>> = { 4: 32, 6: 128 }

/** Reads a strict dotted quad or the IPv6 text of RFC 4291 without a zone; undefined for anything else. */
export function parseIp(text: string): Ip | undefined {
  if (text.includes('%')) return undefined
  const family = isIP(text)
  if (family === 4) return { family, bits: join(text.split('.').map(Number), 8n) }
  if (family === 6) return { family, bits: join(ipv6Groups(text), 16n) }
  return undefined
}

/** Reads CIDR notation such as `10.1.0.0/16`; undefined for anything else. Bits beyond the length are ignored. */
export function parseRange(text: string): IpRange | undefined {
  const [address = '', length = '', ...rest] = text.split('/')
  const ip = parseIp(address)
  if (ip === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length)) return undefined
  return Number(length) <= IP_WIDTH[ip.family] ? { ...ip, length: Number(length) } : undefined
}

export function isInRange({ family, bits }: Ip, range: IpRange): boolean {
  return family === range.family && (bits ^ range.bits) >> BigInt(IP_WIDTH[family] - range.length) === 0n
}

/** The IPv4 address in the last 32 bits of an IPv6 one. */
export function lastIpv4({ bits }: Ip): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 0xffn)).join('.')
}

const join = (parts: readonly number[], width: bigint) =>
  parts.reduce((bits, part) => (bits << width) | BigInt(part), 0n)

/** @param text what `isIP` takes for IPv6. */
function ipv6Groups(text: string): number[] {
  const [head = '', tail = ''] = text.split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail)
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

function groupsOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}
