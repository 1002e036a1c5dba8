import { AssertionError } from 'node:assert/strict'

import { TargetError, type TargetErrorCode } from '../../jobs/target-error.ts'

/** What can go wrong on the way to an answer and back, in words for the caller. */
const MESSAGES = {
  dns_not_found: 'The host name does not exist, or has no address.',
  dns_failure: 'The name server gave no usable answer for the host name.',
  connect_refused: 'The server refused the connection.',
  connect_timeout: 'The server did not accept a connection in time.',
  unreachable: 'The server cannot be reached from here.',
  tls_expired: 'The certificate of the server has expired, or is not valid yet.',
  tls_wrong_host: 'The certificate of the server is not for this host.',
  tls_untrusted: 'The certificate of the server is not trusted.',
  tls_failed: 'The secure connection to the server could not be set up.',
  timeout: 'The server did not answer in time.',
  connection_closed: 'The server closed the connection before the answer was complete.',
  bad_response: 'The answer of the server is not valid HTTP, or its header is too long.',
  bad_encoding: 'The compressed body of the answer is damaged.',
} as const

/** Faults of a host, which any request to it meets: it is not found, not reached, or not trusted. */
export const HOST_FAULTS: ReadonlySet<TargetErrorCode> = new Set<NetworkCode>([
  'dns_not_found',
  'dns_failure',
  'connect_refused',
  'connect_timeout',
  'unreachable',
  'tls_expired',
  'tls_wrong_host',
  'tls_untrusted',
  'tls_failed',
])

type NetworkCode = keyof typeof MESSAGES

/** By the `code` that the resolver, the system, OpenSSL, zlib or undici gives. */
const CODES: Readonly<Record<string, NetworkCode>> = {
  ENOTFOUND: 'dns_not_found',
  ENODATA: 'dns_not_found',
  EAI_AGAIN: 'dns_failure',
  EAI_FAIL: 'dns_failure',
  EAI_MEMORY: 'dns_failure',
  EAI_SYSTEM: 'dns_failure',
  EBADRESP: 'dns_failure',
  ECANCELLED: 'dns_failure',
  EFORMERR: 'dns_failure',
  ENOTIMP: 'dns_failure',
  EREFUSED: 'dns_failure',
  ESERVFAIL: 'dns_failure',
  ETIMEOUT: 'dns_failure',
  ECONNREFUSED: 'connect_refused',
  ETIMEDOUT: 'connect_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EHOSTDOWN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  EPERM: 'unreachable',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_host',
  HOSTNAME_MISMATCH: 'tls_wrong_host',
  CERT_CHAIN_TOO_LONG: 'tls_untrusted',
  CERT_REJECTED: 'tls_untrusted',
  CERT_REVOKED: 'tls_untrusted',
  CERT_SIGNATURE_FAILURE: 'tls_untrusted',
  CERT_UNTRUSTED: 'tls_untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_untrusted',
  INVALID_CA: 'tls_untrusted',
  INVALID_PURPOSE: 'tls_untrusted',
  PATH_LENGTH_EXCEEDED: 'tls_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_untrusted',
  EPROTO: 'tls_failed',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  ECONNABORTED: 'connection_closed',
  ECONNRESET: 'connection_closed',
  EPIPE: 'connection_closed',
  HPE_INVALID_EOF_STATE: 'connection_closed',
  UND_ERR_SOCKET: 'connection_closed',
  UND_ERR_HEADERS_OVERFLOW: 'bad_response',
  // Not a body that is cut off, which is UND_ERR_SOCKET, but two lengths that contradict each other.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad_response',
}

/** What undici says when it closes a socket itself: for a status 101 that nobody asked for, and for any 100. */
const REFUSED_STATUSES: ReadonlySet<string> = new Set(['bad upgrade', 'bad response'])

/** Families of codes too many to list; asked after the table. */
const PREFIXES: readonly (readonly [prefix: string, code: NetworkCode])[] = [
  ['ERR_SSL_', 'tls_failed'],
  ['ERR_TLS_', 'tls_failed'],
  ['ERR_OSSL_', 'tls_failed'],
  ['HPE_', 'bad_response'],
  ['Z_', 'bad_encoding'],
  ['ERR__ERROR_', 'bad_encoding'], // Brotli's.
  ['ZSTD_error_', 'bad_encoding'],
]

/** Links of a chain of causes that are looked at. */
const CHAIN_LENGTH_MAX = 32

/**
 * What an error of the network means for the target; undefined for one that is not known, which is a bug. Of the
 * attempts on several addresses, a refusal tells most: somebody was there.
 */
export function toTargetError(error: unknown): TargetError | undefined {
  const chain = unfold(error)
  const known = chain.find((link) => link instanceof TargetError)
  if (known !== undefined) return known
  const codes = chain.flatMap((link) => networkCode(link) ?? [])
  const code = codes.includes('connect_refused') ? 'connect_refused' : codes[0]
  return code === undefined ? undefined : networkFault(code, error)
}

/** A fault of the network in its own words, whoever has found it. */
export const networkFault = (code: NetworkCode, cause?: unknown): TargetError =>
  new TargetError(code, MESSAGES[code], { cause })

/** The error, its causes and, if it stands for several, those. */
function unfold(error: unknown): Error[] {
  const chain: Error[] = []
  const left = [error]
  while (left.length > 0 && chain.length < CHAIN_LENGTH_MAX) {
    const link = left.shift()
    if (!(link instanceof Error) || chain.includes(link)) continue
    chain.push(link)
    left.push(link.cause, ...(link instanceof AggregateError ? (link.errors as unknown[]) : []))
  }
  return chain
}

function networkCode(error: Error): NetworkCode | undefined {
  if (error.name === 'HTTPParserError' && !('code' in error && error.code)) return 'bad_response'
  // What undici takes for granted of an answer, such as a status of 100 or more; what is asserted here has a message.
  if (error instanceof AssertionError && error.generatedMessage) return 'bad_response'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'UND_ERR_SOCKET' && REFUSED_STATUSES.has(error.message)) return 'bad_response'
  return CODES[code] ?? PREFIXES.find(([prefix]) => code.startsWith(prefix))?.[1]
}
