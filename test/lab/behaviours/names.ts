import { message, page, redirect, send } from '../answers.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Reply } from '../name-server.ts'

/** A host whose name always gets the same reply. */
const named = (
  name: string,
  does: string,
  reply: (address: string) => Reply,
  expected: Behaviour['expected'],
): Behaviour => ({
  name: `name-${name}`,
  does,
  host: { name: `${name}.lab.test`, answers: (address) => () => reply(address) },
  answer: (socket, { head }) => send(socket, message('200 OK', ['Content-Type: text/plain'], hostOf(head))),
  expected,
})

const hostOf = (head: string) => /^host: ([^:\r]*)/im.exec(head)?.[1] ?? ''

/** First the address of the server, then one that is denied. */
const rebinding =
  (address: string) =>
  (asked: number): Reply => ({ addresses: asked === 0 ? [address] : ['127.8.0.1'] })

/** What name servers say. */
export const NAMES: readonly Behaviour[] = [
  named('unknown', 'Its name server says that the name does not exist.', () => 'no such name', {
    outcome: 'dns_not_found',
    requests: 0,
  }),
  named('without-address', 'Its name exists and has no address.', () => ({ addresses: [] }), {
    outcome: 'dns_not_found',
    requests: 0,
  }),
  named('server-failure', 'Its name server says SERVFAIL.', () => 'server failure', {
    outcome: 'dns_failure',
    requests: 0,
  }),
  named('refused', 'Its name server refuses to answer.', () => 'refused', { outcome: 'dns_failure', requests: 0 }),
  named('garbage', 'Its name server answers with noise.', () => 'garbage', { outcome: 'dns_failure', requests: 0 }),
  named('silence', 'Its name server does not answer.', () => 'silence', { outcome: 'dns_failure', requests: 0 }),
  named('good', 'Its name has the address of the server.', (address) => ({ addresses: [address] }), {
    outcome: 'done',
    content: 'good.lab.test',
    requests: 1,
  }),
  named(
    'alias',
    'Its name is an alias of an alias of the name that has the address.',
    (address) => ({ addresses: [address], aliases: ['a.lab.test', 'b.lab.test', 'c.lab.test'] }),
    { outcome: 'done', content: 'alias.lab.test', requests: 1 },
  ),
  named(
    'alias-to-private',
    'Its name is an alias of a name with a private address.',
    () => ({ addresses: ['192.168.0.1'], aliases: ['router.lab.test'] }),
    { outcome: 'blocked_address', requests: 0 },
  ),
  named(
    'alias-circle',
    'Its name is an alias of itself.',
    () => ({ addresses: [], aliases: ['alias-circle.lab.test'] }),
    {
      outcome: 'dns_not_found',
      requests: 0,
    },
  ),
  named('private', 'Its name has a private address.', () => ({ addresses: ['10.0.0.1'] }), {
    outcome: 'blocked_address',
    requests: 0,
  }),
  named('metadata', 'Its name has the metadata address of clouds.', () => ({ addresses: ['169.254.169.254'] }), {
    outcome: 'blocked_address',
    requests: 0,
  }),
  named(
    'mixed',
    'Its name has an address that is allowed, and a private one.',
    (address) => ({ addresses: [address, '10.0.0.1'] }),
    { outcome: 'blocked_address', requests: 0 },
  ),
  named(
    'mixed-families',
    'Its name has an address that is allowed, and the loopback address of IPv6.',
    (address) => ({ addresses: [address, '::1'] }),
    { outcome: 'blocked_address', requests: 0 },
  ),
  {
    name: 'name-rebound',
    does: 'Its name has an address of the machine itself, from the second look-up on.',
    host: { name: 'rebound.lab.test', answers: rebinding },
    answer: page('text/plain', 'the first address'),
    expected: { outcome: 'done', content: 'the first address', requests: 1 },
  },
  {
    name: 'name-rebound-by-redirect',
    does: 'Redirects to its own name, which has an address of the machine itself by then.',
    host: { name: 'rebound-by-redirect.lab.test', answers: rebinding },
    answer: redirect(() => '?again', '302 Found', 'Connection: close'),
    expected: { outcome: 'blocked_address', requests: 1 },
  },
]
