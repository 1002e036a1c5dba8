import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { toTargetError } from '../../../src/fetcher/network/errors.ts'
import { createGuard } from '../../../src/fetcher/network/guard.ts'
import { createSystemResolve, resolveChecked } from '../../../src/fetcher/network/resolve.ts'
import { startService } from '../../helpers/process.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { type Answers, type Reply, startNameServer } from '../../lab/name-server.ts'

const FOUR = '192.0.2.1'
const SIX = '2001:db8::1'

/** The same reply however often and for whichever family. */
const always =
  (reply: Reply): Answers =>
  () =>
    reply
/** A reply for each family. */
const each =
  (four: Reply, six: Reply): Answers =>
  (_asked, family) =>
    family === 4 ? four : six
const both: Reply = { addresses: [SIX, FOUR] }

/** The resolver of the service at a real name server that knows `name.test` alone. */
async function resolverAt(answers: Answers, hosts = '') {
  await using stack = new AsyncDisposableStack()
  const names = stack.use(await startNameServer({ 'name.test': answers, 'good.test': always(both) }))
  const temp = stack.use(tempFolder())
  const hostsFile = temp.file('hosts')
  await writeFile(hostsFile, hosts)
  const resolve = createSystemResolve({ servers: [names.address], hostsFile })
  const stays = stack.move()
  return { names, resolve, [Symbol.asyncDispose]: () => stays.disposeAsync() }
}

/** What becomes of a target whose name is looked up so. */
async function outcomeOf(resolve: (host: string) => Promise<readonly string[]>, host: string) {
  const guard = createGuard({ allow: ['192.0.2.0/24'], ports: '*' })
  try {
    return await resolveChecked(host, resolve, guard)
  } catch (error) {
    const { code, message } = toTargetError(error) ?? {}
    return { code, message }
  }
}

describe('a look-up', () => {
  it('gives the addresses of IPv4, then those of IPv6, of whatever the name leads to', async () => {
    const aliases = ['a.test', 'b.test', 'c.test']
    await using at = await resolverAt(always({ addresses: [SIX, FOUR, '192.0.2.2'], aliases }))
    expect(await at.resolve('name.test')).toEqual([FOUR, '192.0.2.2', SIX])
    expect(await at.resolve('name.test.')).toEqual([FOUR, '192.0.2.2', SIX])
  })

  it('asks the hosts file first', async () => {
    await using at = await resolverAt(always(both), '192.0.2.9 name.test\n')
    expect(await at.resolve('name.test')).toEqual(['192.0.2.9'])
    expect(at.names.asked('name.test')).toBe(0)
    expect(await at.resolve('good.test')).toEqual([FOUR, SIX])
  })

  it('leaves local names to the system', async () => {
    await using at = await resolverAt(always(both))
    expect(await at.resolve('localhost')).toContain('127.0.0.1')
    expect(at.names.asked('localhost')).toBe(0)
  })

  it.each<[string, Answers, string]>([
    ['IPv6 does not exist', each({ addresses: [FOUR] }, 'no such name'), FOUR],
    ['IPv6 has none', each({ addresses: [FOUR] }, { addresses: [] }), FOUR],
    ['IPv6 fails', each({ addresses: [FOUR] }, 'server failure'), FOUR],
    ['IPv6 is refused', each({ addresses: [FOUR] }, 'refused'), FOUR],
    ['IPv6 gets noise', each({ addresses: [FOUR] }, 'garbage'), FOUR],
    ['IPv6 gets silence', each({ addresses: [FOUR] }, 'silence'), FOUR],
    ['IPv4 fails', each('server failure', { addresses: [SIX] }), SIX],
    ['IPv4 gets silence', each('silence', { addresses: [SIX] }), SIX],
  ])('is content with one family if %s', async (_, answers, address) => {
    await using at = await resolverAt(answers)
    expect(await at.resolve('name.test')).toEqual([address])
  })

  it.each<[string, Answers, string]>([
    ['it does not exist', always('no such name'), 'dns_not_found'],
    ['it has no address', always({ addresses: [] }), 'dns_not_found'],
    ['it has none of IPv4 and does not exist in IPv6', each({ addresses: [] }, 'no such name'), 'dns_not_found'],
    ['it has none of IPv4 and IPv6 fails', each({ addresses: [] }, 'server failure'), 'dns_failure'],
    ['it does not exist in IPv6 and IPv4 gets silence', each('silence', 'no such name'), 'dns_failure'],
    ['the name server fails', always('server failure'), 'dns_failure'],
    ['the name server refuses', always('refused'), 'dns_failure'],
    ['the name server sends noise', always('garbage'), 'dns_failure'],
  ])('of a name fails as it should if %s', async (_, answers, code) => {
    await using at = await resolverAt(answers)
    expect(await outcomeOf(at.resolve, 'name.test')).toMatchObject({ code })
  })

  it.each(['a..test', `${'a'.repeat(64)}.test`, 'a$b.test'])(
    'of what cannot be a name finds nothing: %s',
    async (host) => {
      await using at = await resolverAt(always(both))
      expect(await outcomeOf(at.resolve, host)).toMatchObject({ code: 'dns_not_found' })
    },
  )

  it('does not take a name server that is not there for a site that refuses', async () => {
    const { address } = await (async () => {
      await using gone = await startNameServer({})
      return gone
    })()
    const resolve = createSystemResolve({ servers: [address] })
    expect(await outcomeOf(resolve, 'name.test')).toEqual({
      code: 'dns_failure',
      message: 'No name server can be reached.',
    })
  })

  it('ends if the name servers keep silent, however many there are', async () => {
    await using one = await startNameServer({ 'name.test': always('silence') })
    await using two = await startNameServer({ 'name.test': always('silence') })
    await using three = await startNameServer({ 'name.test': always('silence') })
    const servers = [one, two, three].map(({ address }) => address)
    const lookups = [servers.slice(0, 1), servers].map((some) => createSystemResolve({ servers: some })('name.test'))
    const ends = await Promise.allSettled(lookups)
    // One is asked as often as it may be. For three there is no time for that: the look-up is called off.
    expect(ends).toMatchObject([{ reason: { code: 'ETIMEOUT' } }, { reason: { code: 'ECANCELLED' } }])
    expect(one.asked('name.test')).toBeGreaterThan(2)
    expect(three.asked('name.test')).toBeGreaterThan(0)
  }, 60_000)

  it('that gets no answer holds up neither others nor the threads of files and compression', async () => {
    await using at = await resolverAt(always('silence'))
    let ended = 0
    const silent = Array.from({ length: 40 }, () => at.resolve('name.test').catch(() => (ended += 1)))
    expect(await at.resolve('good.test')).toEqual([FOUR, SIX])
    expect(await readFile('package.json', 'utf8')).toContain('"pagehaul"')
    expect((await promisify(gzip)('lamp')).byteLength).toBeGreaterThan(0)
    expect(ended).toBe(0)
    await Promise.all(silent)
    expect(ended).toBe(40)
  }, 60_000)
})

it('a service stops although its look-ups get no answer', async () => {
  const { promise: isAsked, resolve: tell } = Promise.withResolvers<void>()
  await using names = await startNameServer({
    'name.test': () => {
      tell()
      return 'silence'
    },
  })
  const preload = new URL('../../helpers/at-name-server.mjs', import.meta.url).href
  const service = await startService({ DATABASE_URL: ':memory:', NAME_SERVER: names.address }, [
    process.execPath,
    `--import=${preload}`,
    'src/main.ts',
  ])
  await service.submit({ targets: [{ url: 'http://name.test/' }] })
  await isAsked
  expect(await service.stop('SIGTERM')).toBe(0)
}, 60_000)
