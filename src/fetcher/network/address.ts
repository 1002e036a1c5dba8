import assert from 'node:assert/strict'

import { type Ip, type IpRange, isInRange, parseIp, parseRange } from '../../ip.ts'

/** What an address is, in words that follow "is" or "leads to". Only `public` is fetched unless a range is allowed. */
export const ADDRESS_CLASSES = {
  public: 'a public address',
  invalid: 'something that is not an IP address',
  metadata: 'a metadata address of a cloud platform',
  own: 'an address of the machine of this service', // Which the address alone does not tell.
  'zone-id': 'an address with a zone',
  unspecified: 'the unspecified address',
  'this-network': 'an address of "this network"',
  private: 'a private address',
  shared: 'a shared address behind carrier-grade NAT',
  loopback: 'a loopback address',
  'link-local': 'a link-local address',
  'site-local': 'a site-local address',
  'unique-local': 'a unique local address',
  'protocol-assignment': 'an address assigned to a protocol',
  documentation: 'an address for documentation',
  benchmarking: 'a benchmarking address, as proxies use them for made-up answers',
  multicast: 'a multicast address',
  reserved: 'a reserved address',
  broadcast: 'the broadcast address',
  as112: 'a sink for reverse look-ups (AS112)',
  amt: 'a multicast tunnel relay',
  '6to4-relay': 'a 6to4 relay',
  '6to4': 'a 6to4 address',
  teredo: 'a Teredo address',
  nat64: 'a NAT64 address',
  'ipv4-mapped': 'an IPv4-mapped address',
  'ipv4-compatible': 'an IPv4-compatible address',
  'ipv4-translated': 'an IPv4-translated address',
  isatap: 'an ISATAP address',
  discard: 'an address whose traffic is discarded',
  orchid: 'an ORCHID, which is no address of a host',
  'drone-id': 'a drone identifier',
  srv6: 'a segment identifier',
  unallocated: 'an address that nobody has been given',
} as const satisfies Record<string, string>

export type AddressClass = keyof typeof ADDRESS_CLASSES

/**
 * IANA's special-purpose registries of 2025-10-09, IPv6 space outside 2000::/3, and the addresses at which clouds hand
 * out credentials. The most specific range gives the class. `test/cases/guard-addresses.json` is the contract.
 */
const RANGES: Readonly<Partial<Record<AddressClass, readonly string[]>>> = {
  public: ['0.0.0.0/0', '2000::/3'],
  metadata: [
    '100.100.100.200/32',
    '168.63.129.16/32',
    '169.254.0.23/32',
    '169.254.42.42/32',
    '169.254.169.254/32',
    '169.254.170.2/32',
    '169.254.170.23/32',
    '192.0.0.192/32',
    'fd00:42::42/128',
    'fd00:a9fe:a9fe::1/128',
    'fd00:c1::a9fe:a9fe/128',
    'fd00:ec2::23/128',
    'fd00:ec2::254/128',
    'fd20:ce::254/128',
    'fe80::a9fe:a9fe/128',
  ],
  unspecified: ['0.0.0.0/32', '::/128'],
  'this-network': ['0.0.0.0/8'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  shared: ['100.64.0.0/10'],
  loopback: ['127.0.0.0/8', '::1/128'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  'site-local': ['fec0::/10'],
  'unique-local': ['fc00::/7'],
  'protocol-assignment': ['192.0.0.0/24', '2001::/23'],
  documentation: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  benchmarking: ['198.18.0.0/15', '2001:2::/48'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  reserved: ['240.0.0.0/4'],
  broadcast: ['255.255.255.255/32'],
  as112: ['192.31.196.0/24', '192.175.48.0/24', '2001:4:112::/48', '2620:4f:8000::/48'],
  amt: ['192.52.193.0/24', '2001:3::/32'],
  '6to4-relay': ['192.88.99.0/24'],
  '6to4': ['2002::/16'],
  teredo: ['2001::/32'],
  nat64: ['64:ff9b::/96', '64:ff9b:1::/48'],
  'ipv4-mapped': ['::ffff:0:0/96'],
  'ipv4-compatible': ['::/96'],
  'ipv4-translated': ['::ffff:0:0:0/96'],
  discard: ['100::/64', '100:0:0:1::/64'],
  orchid: ['2001:10::/28', '2001:20::/28'],
  'drone-id': ['2001:30::/28'],
  srv6: ['5f00::/16'],
  unallocated: ['::/0'],
}

/** The most specific first. */
const TABLE: readonly { readonly range: IpRange; readonly name: AddressClass }[] = Object.entries(RANGES)
  .flatMap(([name, ranges]) => ranges.map((text) => ({ range: rangeOf(text), name: name as AddressClass })))
  .toSorted((a, b) => b.range.length - a.range.length)

/** What an address is. Takes any text; what is not a strict IPv4 or IPv6 address is `invalid`. */
export function classifyAddress(text: string): AddressClass {
  const [address = '', zone] = text.split('%')
  const ip = parseIp(address)
  if (ip === undefined || (zone !== undefined && ip.family === 4)) return 'invalid'
  const name = classOf(ip)
  return zone !== undefined && name !== 'metadata' ? 'zone-id' : name
}

function classOf(ip: Ip): AddressClass {
  const name = TABLE.find(({ range }) => isInRange(ip, range))?.name
  assert(name !== undefined, 'the widest ranges hold every address')
  return name === 'public' && isIsatap(ip) ? 'isatap' : name
}

/** An interface identifier of 0000:5efe or 0200:5efe holds an IPv4 address, whatever the prefix (RFC 5214). */
function isIsatap({ family, bits }: Ip): boolean {
  return family === 6 && ((bits >> 32n) & 0xfdff_ffffn) === 0x5efen
}

function rangeOf(text: string): IpRange {
  const range = parseRange(text)
  assert(range !== undefined, text)
  return range
}
