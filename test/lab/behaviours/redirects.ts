import { ADDRESS_CLASSES, type AddressClass } from '../../../src/fetcher/network/address.ts'
import { flood, head, message, page, redirect, send } from '../answers.ts'
import type { Answer, Behaviour, Places } from '../behaviour.ts'

/** How many redirects have led to a path. */
const stepOf = (path: string) => Number(/[?&]step=(\d+)/.exec(path)?.[1] ?? 0)

/** Redirects until it has done so this often. */
const chain =
  (length: number): Answer =>
  (socket, request, places) =>
    stepOf(request.path) < length
      ? redirect((_places, { path }) => `?step=${stepOf(path) + 1}`)(socket, request, places)
      : page('text/plain', 'the end')(socket, request, places)

/** Redirects once to a path, and answers with the path it is asked for then. */
const once =
  (location: string): Answer =>
  (socket, request, places) =>
    request.path.endsWith('arrived')
      ? page('text/plain', request.path)(socket, request, places)
      : redirect(() => location)(socket, request, places)

/** A redirect that is refused, or leads to where nobody is. */
const refused = (
  name: string,
  where: string,
  location: (places: Places) => string,
  outcome: Behaviour['expected']['outcome'],
  requests = 1,
): Behaviour => ({
  name: `redirect-to-${name}`,
  does: `Redirects to ${where}.`,
  answer: redirect(location),
  expected: { outcome, requests },
})

/** Classes of which no address can be in a URL, or which have rows of their own. */
type ClassElsewhere = 'public' | 'invalid' | 'own' | 'zone-id' | 'metadata' | 'loopback' | 'ipv4-mapped'

/** A host of every other class. Those that hold an address of IPv4 hold one of this machine. */
const HOSTS: Readonly<Record<Exclude<AddressClass, ClassElsewhere>, string>> = {
  unspecified: '0.0.0.0',
  'this-network': '0.1.2.3',
  private: '10.0.0.1',
  shared: '100.64.0.1',
  'link-local': '169.254.1.1',
  'site-local': '[fec0::1]',
  'unique-local': '[fd12:3456:789a::1]',
  'protocol-assignment': '192.0.0.1',
  documentation: '192.0.2.1',
  benchmarking: '198.18.0.1',
  multicast: '224.0.0.1',
  reserved: '240.0.0.1',
  broadcast: '255.255.255.255',
  as112: '192.31.196.1',
  amt: '192.52.193.1',
  '6to4-relay': '192.88.99.1',
  '6to4': '[2002:7f08:1::1]',
  teredo: '[2001::80f7:fffe]',
  nat64: '[64:ff9b::7f08:1]',
  'ipv4-compatible': '[::7f08:1]',
  'ipv4-translated': '[::ffff:0:7f08:1]',
  isatap: '[2000::5efe:7f08:1]',
  discard: '[100::1]',
  orchid: '[2001:20::1]',
  'drone-id': '[2001:30::1]',
  srv6: '[5f00::1]',
  unallocated: '[4000::1]',
}

/** Where answers lead. */
export const REDIRECTS: readonly Behaviour[] = [
  {
    name: 'redirect-to-itself',
    does: 'Redirects to the URL it was asked for.',
    answer: redirect((_places, { path }) => path),
    expected: { outcome: 'redirect_loop', requests: 1 },
  },
  {
    name: 'redirect-in-circle',
    does: 'Redirects from one URL to another and back.',
    answer: redirect((_places, { path }) => `?step=${1 - stepOf(path)}`),
    url: ({ origin }) => `${origin}/?step=0`,
    expected: { outcome: 'redirect_loop', requests: 2 },
  },
  {
    name: 'redirect-for-cookie',
    does: 'Redirects to the same URL until the cookie that it sets comes back.',
    answer: (socket, request, places) =>
      /^cookie: seen=yes/im.test(request.head)
        ? page('text/plain', 'welcome')(socket, request, places)
        : redirect((_places, { path }) => path, '302 Found', 'Set-Cookie: seen=yes')(socket, request, places),
    expected: { outcome: 'done', content: 'welcome', requests: 2 },
  },
  {
    name: 'redirect-with-new-cookies',
    does: 'Redirects to the same URL for ever, with another cookie each time.',
    answer: (socket, request, places) =>
      redirect((_places, { path }) => path, '302 Found', `Set-Cookie: seen=${request.nth}`)(socket, request, places),
    expected: { outcome: 'too_many_redirects', requests: 11 },
  },
  {
    name: 'ten-redirects',
    does: 'Redirects ten times, then answers.',
    answer: chain(10),
    expected: { outcome: 'done', content: 'the end', requests: 11 },
  },
  {
    name: 'redirects-without-end',
    does: 'Redirects to another URL each time.',
    answer: chain(Number.POSITIVE_INFINITY),
    expected: { outcome: 'too_many_redirects', requests: 11 },
  },
  {
    name: 'redirect-in-utf-8',
    does: 'Redirects to a path in raw UTF-8.',
    answer: once(Buffer.from('/안녕/arrived').toString('latin1')),
    expected: { outcome: 'done', content: '/%EC%95%88%EB%85%95/arrived', requests: 2 },
  },
  {
    name: 'redirect-in-latin-1',
    does: 'Redirects to a path in raw Latin-1.',
    answer: once('/caf\xe9/arrived'),
    expected: { outcome: 'done', content: '/caf%C3%A9/arrived', requests: 2 },
  },
  {
    name: 'redirect-with-body',
    does: 'Redirects with a body that never ends.',
    answer: (socket, request, places) =>
      request.path.endsWith('arrived')
        ? page('text/plain', 'left behind')(socket, request, places)
        : flood(head('302 Found', 'Location: /arrived'), 'x'.repeat(65_536))(socket, request, places),
    expected: { outcome: 'done', content: 'left behind', requests: 2 },
  },
  {
    name: 'redirect-without-location',
    does: 'Redirects without saying where to.',
    answer: (socket) => send(socket, message('302 Found')),
    expected: { outcome: 'bad_redirect', requests: 1 },
  },
  refused('nothing', 'an empty `Location`', () => '', 'bad_redirect'),
  refused('file', 'a file', () => 'file:///etc/passwd', 'bad_redirect'),
  refused('gopher', 'another scheme', () => 'gopher://127.0.0.1:70/_x', 'bad_redirect'),
  refused('script', 'a script', () => 'javascript:alert(1)', 'bad_redirect'),
  refused('data', 'data in the URL', () => 'data:text/plain,x', 'bad_redirect'),
  refused(
    'credentials',
    'a URL with a password',
    ({ address, port }) => `http://a:b@${address}:${port}/`,
    'bad_redirect',
  ),
  refused('long-url', 'a URL of 9,000 characters', () => `/${'x'.repeat(9_000)}`, 'bad_redirect'),
  refused('forbidden', 'an address of the machine itself', ({ forbidden }) => `${forbidden}/`, 'blocked_address'),
  refused(
    'forbidden-number',
    'an address of the machine itself, as one number',
    ({ forbidden }) => `http://2131230721:${new URL(forbidden).port}/`,
    'blocked_address',
  ),
  refused(
    'mapped',
    'an address of the machine itself, as one of IPv6',
    ({ forbidden }) => `http://[::ffff:127.8.0.1]:${new URL(forbidden).port}/`,
    'blocked_address',
  ),
  refused('metadata', 'the metadata address of clouds', () => 'http://169.254.169.254/latest/', 'blocked_address'),
  refused('metadata-name', 'the metadata name of a cloud', () => 'http://metadata.google.internal/', 'blocked_address'),
  refused('loopback-6', 'the loopback address of IPv6', () => 'http://[::1]/', 'blocked_address'),
  refused('localhost', 'the name of the machine itself', ({ port }) => `http://localhost:${port}/`, 'blocked_address'),
  ...Object.entries(HOSTS).map(([name, host]) =>
    refused(name, ADDRESS_CLASSES[name as AddressClass], () => `http://${host}/`, 'blocked_address'),
  ),
  refused('port', 'a port of mail', ({ address }) => `http://${address}:25/`, 'blocked_port'),
  refused(
    'closed-port',
    'a port that nothing listens on',
    ({ address }) => `http://${address}:4/`,
    'connect_refused',
    3,
  ),
]
