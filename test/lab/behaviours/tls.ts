import { thenClose, page } from '../answers.ts'
import type { Behaviour } from '../behaviour.ts'

const safe = page('text/plain', 'safe')
const host = (name: string): NonNullable<Behaviour['host']> => ({
  name,
  answers: (address) => () => ({ addresses: [address] }),
})
const secureUrl: Behaviour['url'] = ({ address, port }) => `https://${address}:${port}/`

/** Servers that speak TLS, or are asked to. */
export const TLS: readonly Behaviour[] = [
  {
    name: 'tls-good',
    does: 'Shows a good certificate.',
    certificate: 'good',
    host: host('good.test'),
    answer: safe,
    expected: { outcome: 'done', content: 'safe', requests: 1 },
  },
  {
    name: 'tls-expired',
    does: 'Shows a certificate that has expired.',
    certificate: 'expired',
    answer: safe,
    expected: { outcome: 'tls_expired', requests: 0 },
  },
  {
    name: 'tls-not-yet-valid',
    does: 'Shows a certificate that is not valid yet.',
    certificate: 'future',
    answer: safe,
    expected: { outcome: 'tls_expired', requests: 0 },
  },
  {
    name: 'tls-wrong-host',
    does: 'Shows a good certificate for another name.',
    certificate: 'good',
    host: host('other.lab.test'),
    answer: safe,
    expected: { outcome: 'tls_wrong_host', requests: 0 },
  },
  {
    name: 'tls-wrong-address',
    does: 'Shows a good certificate that does not hold the address in the URL.',
    certificate: 'good',
    answer: safe,
    expected: { outcome: 'tls_wrong_host', requests: 0 },
  },
  {
    name: 'tls-self-signed',
    does: 'Shows a certificate that it signed itself.',
    certificate: 'self-signed',
    answer: safe,
    expected: { outcome: 'tls_untrusted', requests: 0 },
  },
  {
    name: 'tls-untrusted',
    does: 'Shows a certificate of an authority that nobody knows.',
    certificate: 'stranger',
    answer: safe,
    expected: { outcome: 'tls_untrusted', requests: 0 },
  },
  {
    name: 'tls-to-plain-http',
    does: 'Speaks plain HTTP on the port that the URL has for HTTPS.',
    url: secureUrl,
    onConnection: (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    expected: { outcome: 'tls_failed', requests: 0 },
  },
  {
    name: 'tls-garbage',
    does: 'Answers the handshake with noise.',
    url: secureUrl,
    onConnection: (socket) => socket.once('data', () => socket.end(Buffer.alloc(512, 0xa5))),
    expected: { outcome: 'tls_failed', requests: 0 },
  },
  {
    name: 'tls-closed',
    does: 'Closes the connection in the handshake.',
    url: secureUrl,
    onConnection: (socket) => socket.once('data', () => socket.end()),
    expected: { outcome: 'connection_closed', requests: 0 },
  },
  {
    name: 'tls-silent',
    does: 'Says nothing in the handshake.',
    url: secureUrl,
    expected: { outcome: 'connect_timeout', requests: 0 },
  },
  {
    name: 'plain-http-to-tls',
    does: 'Speaks TLS on the port that the URL has for plain HTTP.',
    certificate: 'good',
    url: ({ address, port }) => `http://${address}:${port}/`,
    answer: thenClose(''),
    expected: { outcome: 'connection_closed', requests: 0 },
  },
]
