import { isIP } from 'node:net'

/** Names under which clouds hand out credentials. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.goog',
  'metadata.google.internal',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
])

/** Ends of names that are never public: reserved by RFC, by ICANN, or never delegated because of wide private use. */
const LOCAL_SUFFIXES = [
  'alt',
  'corp',
  'home',
  'home.arpa',
  'internal',
  'intranet',
  'invalid',
  'kubernetes.default',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
  'svc',
]

export function isMetadataName(host: string): boolean {
  return METADATA_NAMES.has(withoutDot(host))
}

/** Whether a name, not an address, can only lead into the operator's own network. A name without a dot always does. */
export function isLocalName(host: string): boolean {
  const name = withoutDot(host)
  if (isIP(name) !== 0) return false
  return !name.includes('.') || LOCAL_SUFFIXES.some((suffix) => `.${name}`.endsWith(`.${suffix}`))
}

/** @param host in lower case. A dot at its end makes no other name. */
export const withoutDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host)
