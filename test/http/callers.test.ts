import { readFileSync } from 'node:fs'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { type ApiKey, createKey, digestKey } from '../../src/api-key.ts'
import { clientAddress } from '../../src/http/client-address.ts'
import { type IpRange, parseRange } from '../../src/ip.ts'
import type { JobView } from '../../src/jobs/schema.ts'
import { failToStart, startService } from '../helpers/process.ts'
import { buildService, targets } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const KEYS = { alice: createKey(), rotated: createKey(), bob: createKey(), expired: createKey() }
const apiKeys: ApiKey[] = [
  { name: 'alice', digest: digestKey(KEYS.alice), expiresAt: undefined },
  { name: 'alice', digest: digestKey(KEYS.rotated), expiresAt: undefined },
  { name: 'bob', digest: digestKey(KEYS.bob), expiresAt: undefined },
  { name: 'bob', digest: digestKey(KEYS.expired), expiresAt: 0 },
]
const withKeys = () => buildService({ access: { apiKeys } })
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const UNKNOWN_ID = '01a232a6-0000-7000-8000-000000000000'

interface Document {
  paths: Record<string, Record<string, { operationId: string; security?: object[] }>>
}
type Service = Awaited<ReturnType<typeof buildService>>
const documentOf = async ({ app }: Service) => (await app.inject('/openapi.json')).json<Document>()
/** Every operation of the document: what is added to the service later is in it. */
const operationsOf = async (service: Service) =>
  Object.entries((await documentOf(service)).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      path,
      method: method.toUpperCase() as 'GET',
      isOpen: security?.length === 0,
    })),
  )

describe('with API keys', () => {
  it('every operation on jobs wants one, before it looks at anything else, and all others are open', async () => {
    await using service = await withKeys()
    const operations = await operationsOf(service)
    expect(operations.filter(({ path }) => path.startsWith('/jobs')).map(({ isOpen }) => isOpen)).not.toContain(true)
    for (const { path, method, isOpen } of operations) {
      const url = path.replace('{id}', UNKNOWN_ID).replace('{idx}', 'x').replace('{code}', 'job_not_found')
      const headers = { 'content-type': 'garbage', 'x-caller-id': 'not a valid one' }
      const { statusCode, headers: answered } = await service.app.inject({ method, url, headers, payload: '{' })
      expect([method, path, statusCode === 401]).toEqual([method, path, !isOpen])
      expect(answered['www-authenticate']).toBe(isOpen ? undefined : 'Bearer realm="pagehaul"')
    }
    for (const url of ['/livez', '/readyz', '/openapi.json']) {
      expect((await service.app.inject(url)).statusCode).toBe(200)
    }
  })

  it.each<{ what: string; authorization: string | undefined; error: string | undefined; says: RegExp }>([
    { what: 'no key', authorization: undefined, error: undefined, says: /no API key/ },
    { what: 'another scheme', authorization: 'Basic YTpi', error: undefined, says: /no API key/ },
    { what: 'a key without a scheme', authorization: KEYS.alice, error: undefined, says: /no API key/ },
    { what: 'a mistyped key', authorization: `Bearer ${KEYS.alice}x`, error: 'invalid_token', says: /mistyped/ },
    { what: 'an unknown key', authorization: `Bearer ${createKey()}`, error: 'invalid_token', says: /not known/ },
    { what: 'an expired key', authorization: `Bearer ${KEYS.expired}`, error: 'invalid_token', says: /expired/ },
  ])('refuses $what and says so', async ({ authorization, error, says }) => {
    await using service = await withKeys()
    const response = await service.app.inject({ url: '/jobs', headers: authorization ? { authorization } : {} })
    expect(response.statusCode).toBe(401)
    expect(response.json()).toMatchObject({
      code: 'unauthorized',
      type: '/problems/unauthorized',
      detail: expect.stringMatching(says),
      hint: expect.any(String),
    })
    const challenge = String(response.headers['www-authenticate'])
    expect(challenge).toMatch(/^Bearer realm="pagehaul"/)
    expect(/error="(\w+)"/.exec(challenge)?.[1]).toBe(error)
  })

  it('the caller is the name of the key, whichever of several it is, and X-Caller-Id means nothing', async () => {
    await using service = await withKeys()
    const submit = (key: string, headers: object = {}) =>
      service.app.inject({
        method: 'POST',
        url: '/jobs',
        headers: { ...bearer(key), ...headers },
        payload: { targets: targets('a') },
      })
    const first = (await submit(KEYS.alice)).json<JobView>()
    const again = (await submit(KEYS.rotated, { 'x-caller-id': 'bob' })).json<JobView>()
    expect(again).toMatchObject({ id: first.id, reused: true })
    expect((await submit(KEYS.rotated, { 'x-caller-id': 'no valid one' })).statusCode).toBe(202)
    const other = await submit(KEYS.bob, { 'x-caller-id': 'alice' })
    expect(other.json()).toMatchObject({ reused: false })
    expect(other.json<JobView>().id).not.toBe(first.id)
  })

  it('a name that someone gave themselves without keys is not that of a key', async () => {
    using temp = tempFolder()
    const file = temp.file('jobs.db')
    const ids: string[] = []
    for (const caller of ['alice', 'key:alice']) {
      await using open = await buildService({ file })
      ids.push((await open.submit([caller === 'alice' ? 'a' : 'b'], caller)).body.id)
    }
    await using service = await buildService({ file, access: { apiKeys } })
    for (const id of ids) {
      const response = await service.app.inject({ url: `/jobs/${id}`, headers: bearer(KEYS.alice) })
      expect(response.statusCode).toBe(404)
    }
  })

  it('no key in clear is in the log, an answer or the database, after right and wrong uses of it', async () => {
    using temp = tempFolder()
    const lines: string[] = []
    const answers: string[] = []
    await using service = await buildService({
      file: temp.file('jobs.db'),
      access: { apiKeys },
      log: { write: (line) => lines.push(line) },
    })
    service.fetch.answer((call) => call.succeed('text'))
    const payload = { targets: targets('a') }
    const mistyped = `${KEYS.alice.slice(0, -1)}${KEYS.alice.endsWith('0') ? '1' : '0'}`
    const stranger = createKey()
    for (const key of [...Object.values(KEYS), mistyped, stranger]) {
      for (const request of [
        { method: 'POST', url: '/jobs', headers: bearer(key), payload },
        { method: 'GET', url: '/jobs', headers: { ...bearer(key), 'x-caller-id': key } },
        { method: 'GET', url: '/jobs', headers: { authorization: key } },
        { method: 'GET', url: '/jobs', headers: { authorization: `Basic ${key}` } },
        { method: 'GET', url: '/jobs', headers: { 'x-api-key': key, 'x-request-id': key, cookie: `key=${key}` } },
        { method: 'GET', url: `/jobs/${key}`, headers: bearer(key) },
        { method: 'GET', url: `/${key}` },
        { method: 'GET', url: `/jobs?key=${key}` },
        { method: 'GET', url: `/jobs?after=${key}`, headers: bearer(key) },
        { method: 'PATCH', url: '/jobs', headers: bearer(key) },
        { method: 'POST', url: '/jobs', headers: { ...bearer(key), 'content-type': 'application/json' }, payload: '{' },
      ] as const) {
        const response = await service.app.inject(request)
        answers.push(JSON.stringify(response.headers), response.body)
      }
    }
    await service.runner.idle()
    answers.push((await service.app.inject('/metrics')).body)
    expect(lines.length).toBeGreaterThan(60)
    const stored = ['jobs.db', 'jobs.db-wal'].map((name) => readFileSync(temp.file(name), 'latin1')).join('')
    expect(stored).toContain('key:alice') // It is looked for in the right place.
    for (const text of [lines.join(''), answers.join('\n'), stored]) {
      for (const key of [...Object.values(KEYS), mistyped, stranger]) expect(text.includes(key)).toBe(false)
    }
  })

  it('a real service takes them from its settings, and tells its log nothing of them', async () => {
    using temp = tempFolder()
    const env = {
      DATABASE_URL: `file:${temp.file('jobs.db')}`,
      LOG_LEVEL: 'trace',
      PAGEHAUL_API_KEYS: `alice:sha256:${digestKey(KEYS.alice).toString('hex')},bob:${KEYS.bob}`,
    }
    const service = await startService(env)
    const log: string[] = []
    service.child.stdout?.on('data', (chunk: Buffer) => log.push(chunk.toString()))
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${service.origin}/jobs`, { headers })).status
    expect(await statusOf({})).toBe(401)
    expect(await statusOf(bearer(KEYS.alice))).toBe(200)
    expect(await statusOf(bearer(KEYS.bob))).toBe(200)
    expect(await statusOf(bearer(KEYS.rotated))).toBe(401)
    expect(await service.stop('SIGTERM')).toBe(0)
    expect(log.join('')).toContain('"statusCode":401')
    expect(log.join('')).not.toContain('phk_')

    const { code, stderr } = await failToStart({ ...env, PAGEHAUL_API_KEYS: `alice ${KEYS.alice}` })
    expect(code).toBe(2)
    expect(stderr).toContain('PAGEHAUL_API_KEYS: entry 1: ')
    expect(stderr).not.toContain('phk_')
  }, 60_000)
})

describe('a job belongs to its caller', () => {
  const callers = {
    keys: { access: { apiKeys }, alice: bearer(KEYS.alice), bob: { ...bearer(KEYS.bob), 'x-caller-id': 'alice' } },
    ids: { access: {}, alice: { 'x-caller-id': 'alice' }, bob: { 'x-caller-id': 'bob' } },
    addresses: { access: {}, alice: { 'x-caller-id': 'alice' }, bob: {} },
  }

  it.each(Object.entries(callers))(
    'on every route, by %s: the id of another answers as an unknown one, byte for byte',
    async (_, { access, alice, bob }) => {
      await using service = await buildService({ access, jobsPerCallerMax: 10, jobsTotalMax: 20 })
      const operations = (await operationsOf(service)).filter(({ path }) => path.includes('{id}'))
      expect(operations.length).toBeGreaterThanOrEqual(6)
      const ids = await jobsInEveryState(service, alice)
      const request = fc.record({
        operation: fc.constantFrom(...operations),
        id: fc.constantFrom(...ids),
        idx: fc.constantFrom('0', '1', '7', 'x'),
        query: fc.constantFrom('', '?view=summary', '?follow=true', '?from=1', '?offset=0&limit=3', '?x=1'),
        headers: fc.record(
          {
            accept: fc.constantFrom('text/markdown', 'application/json', 'image/png'),
            prefer: fc.constant('wait=20'),
            'if-none-match': fc.constant('*'),
            'last-event-id': fc.constantFrom('0', '1', 'end', 'x'),
            'content-type': fc.constantFrom('application/json', 'text/plain'),
          },
          { requiredKeys: [] },
        ),
        head: fc.boolean(),
      })
      const statuses = new Set<number>()
      await fc.assert(
        fc.asyncProperty(request, async ({ operation, id, idx, query, headers, head }) => {
          const ask = async (job: string) => {
            const {
              statusCode,
              headers: answered,
              body,
            } = await service.app.inject({
              method: head && operation.method === 'GET' ? 'HEAD' : operation.method,
              url: operation.path.replace('{id}', job).replace('{idx}', idx) + query,
              headers: { ...headers, ...bob, 'x-request-id': 'r' },
            })
            const { date: _date, ...rest } = answered
            statuses.add(statusCode)
            return { statusCode, headers: rest, body: body.replaceAll(job, 'ID') }
          }
          const foreign = await ask(id)
          expect(foreign.statusCode).toBeGreaterThanOrEqual(404)
          expect(foreign).toEqual(await ask(UNKNOWN_ID))
        }),
        { numRuns: 300 },
      )
      expect(statuses).toContain(404)
      const page = (await service.app.inject({ url: '/jobs?limit=100', headers: bob })).json<{ jobs: JobView[] }>()
      expect(page).toEqual({ jobs: [] })
      // Nothing that was tried changed anything.
      const own = (await service.app.inject({ url: '/jobs', headers: alice })).json<{ jobs: JobView[] }>().jobs
      expect(own.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'done', 'partial', 'running'])
    },
    60_000,
  )

  it('the same submission is another job, and takes no place of theirs', async () => {
    await using service = await withKeys()
    const submit = (key: string) =>
      service.app.inject({ method: 'POST', url: '/jobs', headers: bearer(key), payload: { targets: targets('a') } })
    const [alice, bob] = [await submit(KEYS.alice), await submit(KEYS.bob)].map((answer) => answer.json<JobView>())
    expect(bob).toMatchObject({ status: 'running', reused: false })
    expect(bob?.id).not.toBe(alice?.id)
  })
})

/** One job that is done, one partly, one cancelled and one live. */
async function jobsInEveryState(service: Service, headers: Record<string, string>): Promise<string[]> {
  const send = async (method: 'POST' | 'DELETE', url: string, payload?: object) =>
    (await service.app.inject({ method, url, headers, ...(payload && { payload }) })).json<JobView>()
  const submit = async (...names: string[]) => (await send('POST', '/jobs', { targets: targets(...names) })).id
  const done = await submit('a')
  await service.fetch.next().then((call) => call.succeed('A'))
  const partial = await submit('b', 'c')
  await service.fetch.next().then((call) => call.succeed('B'))
  await service.fetch.next().then((call) => call.fail('http_404'))
  await service.runner.idle()
  const cancelled = await submit('d', 'e')
  const inFlight = await service.fetch.next()
  await send('DELETE', `/jobs/${cancelled}`)
  inFlight.succeed('D')
  await service.runner.idle()
  const live = await submit('f', 'g')
  await service.fetch.peek()
  return [done, partial, cancelled, live]
}

describe('without keys', () => {
  const ranges = (...texts: string[]): IpRange[] => texts.flatMap((text) => parseRange(text) ?? [])
  const proxies = ranges('10.0.0.0/8', 'fd00::/8')

  it.each<{ what: string; peer: string | undefined; forwarded?: string | string[]; trusted?: IpRange[]; is: string }>([
    { what: 'an IPv4 address', peer: '192.0.2.7', is: '192.0.2.7' },
    { what: 'an IPv4 address in an IPv6 one', peer: '::ffff:192.0.2.7', is: '192.0.2.7' },
    { what: 'the same in hexadecimal', peer: '::FFFF:c000:207', is: '192.0.2.7' },
    { what: 'the /64 of an IPv6 address', peer: '2001:db8:0:1:2:3:4:5', is: '2001:0db8:0000:0001::/64' },
    { what: 'a link-local address with a zone', peer: 'fe80::1%eth0', is: 'fe80:0000:0000:0000::/64' },
    { what: 'the loopback address', peer: '::1', is: '0000:0000:0000:0000::/64' },
    { what: 'a connection without an address', peer: undefined, is: 'unknown' },
    { what: 'the peer, whatever it claims', peer: '192.0.2.7', forwarded: '198.51.100.1', is: '192.0.2.7' },
    {
      what: 'the peer that no one trusts',
      peer: '192.0.2.7',
      forwarded: '198.51.100.1',
      trusted: proxies,
      is: '192.0.2.7',
    },
    { what: 'what a proxy says', peer: '10.0.0.1', forwarded: '198.51.100.1', trusted: proxies, is: '198.51.100.1' },
    {
      what: 'what a proxy over a mapped address says',
      peer: '::ffff:10.0.0.1',
      forwarded: '198.51.100.1',
      trusted: proxies,
      is: '198.51.100.1',
    },
    {
      what: 'the rightmost that is no proxy: the rest can be made up',
      peer: '10.0.0.1',
      forwarded: '127.0.0.1, 10.9.9.9, 198.51.100.1, 10.0.0.2',
      trusted: proxies,
      is: '198.51.100.1',
    },
    {
      what: 'the same over several header lines',
      peer: 'fd00::1',
      forwarded: ['203.0.113.1', '2001:db8::1,fd00::2'],
      trusted: proxies,
      is: '2001:0db8:0000:0000::/64',
    },
    {
      what: 'an address with a port',
      peer: '10.0.0.1',
      forwarded: '198.51.100.1:80',
      trusted: proxies,
      is: '198.51.100.1',
    },
    {
      what: 'an IPv6 address with a port',
      peer: '10.0.0.1',
      forwarded: '"[2001:db8::1]:80", [2001:db8::2]:80',
      trusted: proxies,
      is: '2001:0db8:0000:0000::/64',
    },
    {
      what: 'the proxy that knows no address',
      peer: '10.0.0.1',
      forwarded: 'unknown',
      trusted: proxies,
      is: '10.0.0.1',
    },
    { what: 'the proxy that adds nothing', peer: '10.0.0.1', trusted: proxies, is: '10.0.0.1' },
    {
      what: 'the first of nothing but proxies',
      peer: '10.0.0.1',
      forwarded: '10.0.0.3,10.0.0.2',
      trusted: proxies,
      is: '10.0.0.3',
    },
    { what: 'no octal address', peer: '10.0.0.1', forwarded: '198.051.100.1', trusted: proxies, is: '10.0.0.1' },
  ])('a client is $what', ({ peer, forwarded, trusted = [], is }) => {
    expect(clientAddress(peer, forwarded, trusted)).toBe(is)
  })

  it('nothing that a client sends through a proxy makes it another client', () => {
    const junk = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom('10.0.0.9', '::ffff:10.0.0.9', ','))
    fc.assert(
      fc.property(fc.array(junk), fc.ipV4(), (sent, address) => {
        fc.pre(!address.startsWith('10.'))
        return clientAddress('10.0.0.1', [...sent, address].join(','), proxies) === address
      }),
    )
  })

  it('callers are told apart by header, address and network, and proxies are believed as the settings say', async () => {
    await using service = await buildService({ access: { trustedProxies: proxies }, jobsTotalMax: 100 })
    const jobOf = async (remoteAddress: string, headers: Record<string, string> = {}) =>
      (
        await service.app.inject({
          method: 'POST',
          url: '/jobs',
          remoteAddress,
          headers,
          payload: { targets: targets('a') },
        })
      ).json<JobView>().id
    const one = await jobOf('2001:db8::1')
    expect(await jobOf('2001:db8::2')).toBe(one)
    const other = await jobOf('2001:db8:0:1::1')
    const four = await jobOf('192.0.2.1')
    expect(await jobOf('::ffff:192.0.2.1')).toBe(four)
    expect(await jobOf('10.0.0.1', { 'x-forwarded-for': '192.0.2.1' })).toBe(four)
    const named = await jobOf('192.0.2.1', { 'x-caller-id': 'ip:192.0.2.1' })
    const liar = await jobOf('192.0.2.2', { 'x-forwarded-for': '192.0.2.1' })
    expect(new Set([one, other, four, named, liar]).size).toBe(5)
  })

  it('what belongs to a caller is not for shared caches', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    for (const url of ['/jobs', `/jobs/${body.id}`, `/jobs/${UNKNOWN_ID}`, `/jobs/${body.id}/targets/0`]) {
      const { headers } = await service.app.inject({ url, headers: { 'x-caller-id': 'alice' } })
      expect([url, headers['cache-control']]).toEqual([url, expect.stringMatching(/^private, no-/)])
    }
  })
})
