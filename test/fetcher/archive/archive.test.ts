import { describe, expect, it } from 'vitest'

import { systemClock } from '../../../src/clock.ts'
import { type ArchiveOptions, createArchive } from '../../../src/fetcher/archive/archive.ts'
import { createIsPublicUrl } from '../../../src/fetcher/network/public-url.ts'
import { failing, type FakeCapture, type Fault, saying, serveArchive } from '../../helpers/fake-archive.ts'
import { fakeClock } from '../../helpers/fake-clock.ts'
import { testNetwork } from '../../helpers/test-network.ts'

const PAGE = 'https://gone.org/page'
const never = new AbortController().signal

/** What names resolve to for the question of whether a URL is public. Every other name does not exist. */
const ZONE: Readonly<Record<string, readonly string[]>> = {
  'gone.org': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'inside.org': ['10.0.0.5'],
  'mixed.org': ['93.184.216.34', '192.168.0.1'],
  'loop.org': ['127.0.0.2'],
}

const resolve = async (name: string) => {
  const addresses = ZONE[name]
  if (addresses === undefined) throw Object.assign(new Error('No such name.'), { code: 'ENOTFOUND' })
  return addresses
}

type Options = Partial<ArchiveOptions> & NonNullable<Parameters<typeof serveArchive>[1]>

/** An archive that holds these captures, asked through the real network. `await using` closes both. */
async function archiveOf(captures: readonly FakeCapture[], { faults, host, ...options }: Options = {}) {
  const server = await serveArchive(captures, { ...(faults && { faults }), ...(host && { host }) })
  const network = testNetwork()
  const archive = createArchive({
    request: network.request,
    archiveUrl: server.origin,
    isPublic: createIsPublicUrl(resolve),
    clock: systemClock,
    ...options,
  })
  return {
    server,
    archive,
    /** The text of all captures of a page, or why they ended. */
    async texts(page = PAGE, signal = never) {
      const texts: string[] = []
      for await (const { response } of archive.captures(page, signal)) texts.push(Buffer.from(response.body).toString())
      return texts
    },
    async [Symbol.asyncDispose]() {
      await network.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const copy = (at: string, more: Partial<FakeCapture> = {}): FakeCapture => ({ at, url: PAGE, body: at, ...more })
const [FIRST, SECOND, THIRD, FOURTH] = ['20210101000000', '20220202020202', '20230303030303', '20240404040404'] as const

describe('the newest capture', () => {
  it('is the first, with its address, its time and the bytes as they were', async () => {
    await using fixture = await archiveOf([copy(FIRST), copy(SECOND, { type: 'text/plain; charset=x' })])
    const first = await fixture.archive.captures(PAGE, never).next()
    expect(first.value).toMatchObject({
      url: `${fixture.server.origin}/web/${SECOND}id_/${PAGE}`,
      capturedAt: '2022-02-02T02:02:02.000Z',
      response: { status: 200, contentType: 'text/plain; charset=x' },
    })
    expect(fixture.server.services).toEqual(['available', 'capture'])
    expect(fixture.archive.host).toBe(new URL(fixture.server.origin).host)
  })

  it('is found in the index, if the quick service does not know the page by this scheme', async () => {
    await using fixture = await archiveOf([
      copy(FIRST, { url: 'http://www.gone.org/page/' }),
      copy(SECOND, { url: 'http://gone.org/page' }),
    ])
    expect(await fixture.texts()).toEqual([SECOND, FIRST])
    expect(fixture.server.services).toEqual(['available', 'index', 'capture', 'capture'])
  })

  it.each([
    ['an empty object', saying('{}')],
    ['nothing', saying('')],
    ['a page', saying('<html><body>Temporarily offline</body></html>')],
    ['a list', saying('[]')],
    ['null', saying('null')],
    ['no captures', saying('{"archived_snapshots":{}}')],
    ['one that is not available', saying(closest({ available: false }))],
    ['one that was an error', saying(closest({ status: '404' }))],
    ['one of another page', saying(closest({ url: `http://web.archive.org/web/${FIRST}/https://gone.org/other` }))],
    ['one without an address', saying(closest({ url: 7 }))],
    ['one of no time', saying(closest({ url: `http://web.archive.org/web/20219901000000/${PAGE}` }))],
    ['more than a list can be', saying(`${closest({})}${' '.repeat(300_000)}`)],
    ['that it is not there', failing(404)],
    ['that it is out of order', failing(503)],
    ['a body that is damaged', failing(200, { 'content-encoding': 'gzip' })],
    ['a circle', failing(302, { location: '?url=x' })],
  ])('is found in the index, if the quick service answers %s', async (_, available) => {
    await using fixture = await archiveOf([copy(FIRST)], { faults: { available } })
    expect(await fixture.texts()).toEqual([FIRST])
    expect(fixture.server.services).toContain('index')
  })

  it('is asked for without the fragment of the page', async () => {
    await using fixture = await archiveOf([copy(FIRST)])
    expect(await fixture.texts(`${PAGE}#secret`)).toEqual([FIRST])
    expect(JSON.stringify(fixture.server.requests)).not.toContain('secret')
  })

  it('is asked for with the query of the page', async () => {
    const page = `${PAGE}?a=1&b=%26%23+c&d=ä`
    const { href } = new URL(page)
    await using fixture = await archiveOf([copy(FIRST, { url: href.replace('https', 'http') })])
    expect(await fixture.texts(page)).toEqual([FIRST])
    expect(fixture.server.requests[1]).toMatchObject({ service: 'index', url: href })
  })
})

describe('the index', () => {
  it.each([
    [
      'rows without a status that are copies of earlier bytes',
      copy(SECOND, { row: { status: '-', type: 'warc/revisit' } }),
      [SECOND, FIRST],
    ],
    ['rows without a status', copy(SECOND, { row: { status: '-', type: 'text/html' } }), [FIRST]],
    ['redirects', copy(SECOND, { row: { status: '301', type: 'text/html' } }), [FIRST]],
    ['errors', copy(SECOND, { row: { status: '404', type: 'text/html' } }), [FIRST]],
    ['pictures', copy(SECOND, { row: { status: '200', type: 'image/png' } }), [FIRST]],
    ['PDF', copy(SECOND, { row: { status: '200', type: 'application/pdf' } }), [SECOND, FIRST]],
    ['a type it does not know', copy(SECOND, { row: { status: '200', type: 'unk' } }), [SECOND, FIRST]],
    ['bytes that it has in another row', copy(SECOND, { digest: FIRST }), [FIRST]],
  ])('is read with %s', async (_, second, expected) => {
    await using fixture = await archiveOf([copy(FIRST), second], { faults: { available: saying('{}') } })
    expect(await fixture.texts()).toEqual(expected)
  })

  it('is read with columns in another order, and rows that are broken', async () => {
    const index = saying(
      JSON.stringify([
        ['original', 'statuscode', 'timestamp'],
        [PAGE, '200', FIRST],
        [PAGE, '200', '20210230000000'],
        [PAGE, '200', 'now'],
        ['mailto:a@gone.org', '200', SECOND],
        ['', '200', SECOND],
        ['https://gone.org/page/below', '200', SECOND],
        ['https://other.org/page', '200', SECOND],
        [PAGE, 200, SECOND],
        [],
      ]),
    )
    await using fixture = await archiveOf([copy(FIRST)], { faults: { available: saying('{}'), index } })
    expect(await fixture.texts()).toEqual([FIRST])
  })

  it('is asked for good captures, the newest ones, one for each content', async () => {
    await using fixture = await archiveOf([])
    await fixture.texts()
    const query = new URLSearchParams(fixture.server.requests[1]?.path.split('?')[1])
    expect(Object.fromEntries(query)).toEqual({
      url: PAGE,
      matchType: 'exact',
      output: 'json',
      fl: 'timestamp,original,mimetype,statuscode,digest',
      filter: 'statuscode:200',
      collapse: 'digest',
      limit: '-20',
    })
  })

  it.each([
    ['an empty list', saying('[]')],
    ['only the names of columns', saying('[["timestamp","original","mimetype","statuscode","digest"]]')],
    ['nothing', saying('')],
    [
      'that the owner wants no copies to be read',
      failing(403, {}, 'org.archive.wayback.exception.AdministrativeAccessControlException: Blocked Site Error'),
    ],
    [
      'the same in a header',
      failing(403, { 'x-archive-wayback-runtime-error': 'RobotAccessControlException: Blocked By Robots' }, ''),
    ],
  ])('knows of no copy if it answers %s', async (_, index) => {
    await using fixture = await archiveOf([copy(FIRST)], { faults: { available: saying('{}'), index } })
    expect(await fixture.texts()).toEqual([])
    expect(fixture.server.services).toEqual(['available', 'index'])
  })
})

describe('a capture', () => {
  it.each([
    ['a redirect to another page', { status: 302, location: 'https://gone.org/home' }],
    ['a redirect to another site', { status: 301, location: 'https://other.org/page' }],
    ['a redirect in a circle', { status: 302, location: PAGE }],
    ['a page that is missing', { status: 404 }],
    ['a site that was busy', { status: 429 }],
    ['a site that was out of order', { status: 503 }],
    ['nothing', { body: '' }],
  ])('of %s is no copy, and the next one is taken', async (_, bad) => {
    const captures = [copy(FIRST), copy(SECOND, { ...bad, row: { status: '200', type: 'text/html' } })]
    await using fixture = await archiveOf([...captures, copy(FIRST, { url: 'https://gone.org/home' })])
    expect(await fixture.texts()).toEqual([FIRST])
  })

  it.each([
    ['damaged', failing(200, { 'content-encoding': 'gzip', 'memento-datetime': 'x' })],
    ['not there', failing(404)],
    ['kept from being read', failing(403)],
    ['outside of the archive', failing(302, { location: 'http://127.0.0.1/' })],
    ['another address of the archive', failing(302, { location: '/sorry' })],
  ])('that is %s is no copy, and no outage', async (_, capture) => {
    await using fixture = await archiveOf([copy(FIRST)], { faults: { capture } })
    expect(await fixture.texts()).toEqual([])
  })

  it('is not taken from another host', async () => {
    await using other = await serveArchive([copy(FIRST)], { host: '127.0.0.3' })
    const capture = failing(302, { location: `${other.origin}/web/${FIRST}id_/${PAGE}` })
    await using fixture = await archiveOf([copy(FIRST)], { faults: { capture } })
    expect(await fixture.texts()).toEqual([])
    expect(other.services).toEqual(['capture'])
  })

  it('may redirect to the same page by another scheme, or with `www`', async () => {
    const moved = `/web/${THIRD}id_/http://WWW.gone.org:80/Page/`
    const capture: Fault = (response, path) => {
      const answer = path === moved ? saying('moved') : failing(302, { location: moved })
      answer(response, path)
    }
    await using fixture = await archiveOf([copy(SECOND)], { faults: { capture } })
    const { value } = await fixture.archive.captures(PAGE, never).next()
    expect(value).toMatchObject({
      url: `${fixture.server.origin}/web/${THIRD}id_/http://WWW.gone.org:80/Page/`,
      capturedAt: '2023-03-03T03:03:03.000Z',
    })
  })

  it('has the time at which it was really taken', async () => {
    const available = saying(closest({ url: `http://web.archive.org/web/20220202020200/${PAGE}` }))
    await using fixture = await archiveOf([copy(SECOND)], { faults: { available } })
    const { value } = await fixture.archive.captures(PAGE, never).next()
    expect(value).toMatchObject({ capturedAt: '2022-02-02T02:02:02.000Z' })
  })

  it('is one of three at most, and each is fetched when it is asked for', async () => {
    await using fixture = await archiveOf([FIRST, SECOND, THIRD, FOURTH].map((at) => copy(at)))
    const captures = fixture.archive.captures(PAGE, never)
    await captures.next()
    expect(fixture.server.services).toEqual(['available', 'capture'])
    await captures.next()
    await captures.next()
    expect(await captures.next()).toEqual({ done: true, value: undefined })
    expect(fixture.server.services).toEqual(['available', 'capture', 'index', 'capture', 'capture'])
  })

  it('is not fetched again for bytes that were no good', async () => {
    const captures = [copy(FIRST, { digest: 'X' }), copy(SECOND), copy(THIRD, { digest: 'X' })]
    await using fixture = await archiveOf(captures)
    expect(await fixture.texts()).toEqual([THIRD, SECOND])
  })
})

describe('an archive that gives no answer is told from one that has no copy', () => {
  it.each([
    ['the index is out of order', { index: failing(503) }, 'it answered 503 Service Unavailable'],
    ['the index refuses', { index: failing(403) }, 'it answered 403 Forbidden'],
    ['the index answers with a page', { index: saying('<html>Offline</html>') }, 'its answer is not a list of copies'],
    ['the index answers with an object', { index: saying('{}') }, 'its answer is not a list of copies'],
    ['the index answers too much', { index: saying(`[${' '.repeat(300_000)}]`) }, 'its answer is not a list of copies'],
    [
      'the answer of the index is damaged',
      { index: failing(200, { 'content-encoding': 'gzip' }) },
      'its answer cannot be used',
    ],
    ['the captures are out of order', { capture: failing(502) }, 'it answered 502 Bad Gateway'],
  ])('%s', async (_, faults, why) => {
    await using fixture = await archiveOf([copy(FIRST, { url: 'http://gone.org/page' })], { faults })
    await expect(fixture.texts()).rejects.toMatchObject({
      name: 'ArchiveError',
      message: `the archive cannot be asked now: ${why}`,
      hint: 'Try again later; the archive may have a copy.',
    })
  })

  it('a capture that cannot be had does not keep the next one', async () => {
    const capture: Fault = (response, path) =>
      path.includes(SECOND) ? failing(504)(response, path) : saying('older')(response, path)
    await using fixture = await archiveOf([copy(FIRST), copy(SECOND)], { faults: { capture } })
    const captures = fixture.archive.captures(PAGE, never)
    expect(Buffer.from((await captures.next()).value?.response.body ?? []).toString()).toBe('older')
    await expect(captures.next()).rejects.toThrow('it answered 504 Gateway Timeout')
  })

  it('the connection breaks off', async () => {
    const reset = (response: { readonly socket: { resetAndDestroy(): unknown } | null }) =>
      void response.socket?.resetAndDestroy()
    await using fixture = await archiveOf([], { faults: { available: reset, index: reset } })
    await expect(fixture.texts()).rejects.toThrow(/^the archive cannot be asked now: the server closed the connection/)
  })

  it('nobody is there', async () => {
    await using fixture = await archiveOf([])
    await fixture.server[Symbol.asyncDispose]()
    await expect(fixture.texts()).rejects.toThrow('the archive cannot be asked now: the server refused the connection')
  })

  it('the guard refuses it', async () => {
    await using fixture = await archiveOf([copy(FIRST)], { host: '127.0.0.1' })
    await expect(fixture.texts()).rejects.toMatchObject({
      message: 'the archive cannot be asked now: the host is a loopback address',
      hint: expect.stringContaining('PAGEHAUL_GUARD_ALLOW') as string,
    })
    expect(fixture.server.requests).toEqual([])
  })

  it('the URL is too long for it', async () => {
    await using fixture = await archiveOf([])
    await expect(fixture.texts(`${PAGE}?${'x'.repeat(8_150)}`)).rejects.toMatchObject({
      hint: 'The URL is too long for the archive.',
    })
  })
})

describe('an archive that asks for fewer requests', () => {
  it.each([
    ['for as long as it says', { 'retry-after': '120' }, 120],
    ['until the time that it says', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30],
    ['for a minute if it does not say', {}, 60],
    ['for an hour at most', { 'retry-after': '86400' }, 3_600],
  ])('gets none %s', async (_, headers, seconds) => {
    const clock = fakeClock()
    const faults: NonNullable<Options['faults']> = { available: failing(429, headers) }
    await using fixture = await archiveOf([copy(FIRST)], { clock, faults })
    await expect(fixture.texts()).rejects.toThrow(/it asks for fewer requests, and for none for \d+ s$/)
    clock.advance(seconds * 1_000 - 1)
    await expect(fixture.texts('https://gone.org/other')).rejects.toThrow('and for none for 1 s')
    expect(fixture.server.services).toEqual(['available'])
    delete faults.available
    clock.advance(1)
    expect(await fixture.texts()).toEqual([FIRST])
  })

  it('gets some again after an hour, also if the clock was set back', async () => {
    const clock = fakeClock()
    const faults: NonNullable<Options['faults']> = { available: failing(429) }
    await using fixture = await archiveOf([copy(FIRST)], { clock, faults })
    await expect(fixture.texts()).rejects.toThrow('and for none for 60 s')
    clock.advance(-31_536_000_000)
    await expect(fixture.texts()).rejects.toThrow('and for none for 3600 s')
    delete faults.available
    clock.advance(3_600_000)
    expect(await fixture.texts()).toEqual([FIRST])
  })

  it.each(['index', 'capture'] as const)('by its %s, too', async (service) => {
    await using fixture = await archiveOf([copy(FIRST, { url: 'http://gone.org/page' })], {
      faults: { [service]: failing(429) },
    })
    await expect(fixture.texts()).rejects.toThrow('it asks for fewer requests, and for none for 60 s')
    expect(fixture.server.services.at(-1)).toBe(service)
  })
})

describe('time', () => {
  /** Moves the clock once the archive is asked, and never answers. */
  const silent = (clock: ReturnType<typeof fakeClock>, ms: number) => () => clock.advance(ms)

  it('for the quick service is bounded, and the index is asked then', async () => {
    const clock = fakeClock()
    await using fixture = await archiveOf([copy(FIRST)], { clock, faults: { available: silent(clock, 10_000) } })
    expect(await fixture.texts()).toEqual([FIRST])
  })

  it.each(['index', 'capture'] as const)('for all that is asked is bounded: %s', async (service) => {
    const clock = fakeClock()
    const captures = [copy(FIRST, { url: 'http://gone.org/page' })]
    await using fixture = await archiveOf(captures, { clock, faults: { [service]: silent(clock, 40_000) } })
    await expect(fixture.texts()).rejects.toThrow('the archive cannot be asked now: it did not answer in time')
  })

  it('that a conversion has used up leaves none to ask for more', async () => {
    const clock = fakeClock()
    await using fixture = await archiveOf([copy(FIRST), copy(SECOND)], { clock })
    const captures = fixture.archive.captures(PAGE, never)
    await captures.next()
    clock.advance(40_000)
    await expect(captures.next()).rejects.toThrow('it did not answer in time')
    expect(fixture.server.services).toEqual(['available', 'capture'])
  })

  it('for the look-up of the name is bounded', async () => {
    const clock = fakeClock()
    const isPublic = () => {
      setImmediate(() => clock.advance(10_000))
      return new Promise<never>(() => undefined)
    }
    await using fixture = await archiveOf([], { clock, isPublic })
    await expect(fixture.texts()).rejects.toThrow('it did not answer in time')
    expect(fixture.server.requests).toEqual([])
  })

  it.each(['available', 'index', 'capture'] as const)('ends with the signal: %s', async (service) => {
    const reason = new Error('The deadline has passed.')
    const controller = new AbortController()
    const captures = [copy(FIRST, { url: 'http://gone.org/page' })]
    await using fixture = await archiveOf(captures, { faults: { [service]: () => controller.abort(reason) } })
    await expect(fixture.texts(PAGE, controller.signal)).rejects.toBe(reason)
    await fixture.server.idle()
  })
})

describe('a URL that is not public is never sent', () => {
  it.each([
    'http://10.0.0.1/secret',
    'http://127.0.0.2/secret',
    'http://192.168.1.1:8080/secret',
    'http://169.254.169.254/secret',
    'http://[::1]/secret',
    'http://[fd00::1]/secret',
    'http://2130706433/secret',
    'http://localhost/secret',
    'http://wiki/secret',
    'http://wiki./secret',
    'http://git.corp/secret',
    'http://db.internal/secret',
    'http://printer.local/secret',
    'http://nas.home.arpa/secret',
    'http://metadata.google.internal/secret',
    'http://inside.org/secret',
    'http://mixed.org/secret',
    'http://loop.org/secret',
    'http://user:password@gone.org/secret',
  ])('%s', async (page) => {
    await using fixture = await archiveOf([copy(FIRST, { url: page })])
    await expect(fixture.texts(page)).rejects.toMatchObject({
      name: 'ArchiveError',
      message: 'it is not looked up in an archive, since its URL is not public',
    })
    expect(fixture.server.requests).toEqual([])
  })

  it.each(['https://gone.org/page', 'https://no-longer.org/page', 'http://93.184.216.34/page'])(
    'in contrast to %s',
    async (page) => {
      await using fixture = await archiveOf([copy(FIRST, { url: page })])
      expect(await fixture.texts(page)).toEqual([FIRST])
    },
  )
})

function closest(change: Record<string, unknown>): string {
  const snapshot = {
    status: '200',
    available: true,
    url: `http://web.archive.org/web/${FIRST}/${PAGE}`,
    timestamp: FIRST,
  }
  return JSON.stringify({ url: PAGE, archived_snapshots: { closest: { ...snapshot, ...change } } })
}
