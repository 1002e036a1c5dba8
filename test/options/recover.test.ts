import { expect, it } from 'vitest'

import { type FakeCapture, serveArchive } from '../helpers/fake-archive.ts'
import { serve } from '../helpers/serve.ts'
import { wholeService } from '../helpers/whole-service.ts'

const PROSE = 'The harbour town is known for its market, where fish and bread are sold from early in the morning. '
const article = (text: string) =>
  `<!doctype html><html><head><title>Lamp</title></head><body><main><h1>Lamp</h1><p>${text}</p><p>${PROSE.repeat(5)}<a href="../other">More</a></p></main></body></html>`
const SOFT_404 =
  '<!doctype html><html><head><title>Page not found</title></head><body><h1>Page not found</h1><p>Sorry, there is no such page.</p></body></html>'

/** A site whose pages are gone, an archive that has these captures, and the service. */
async function setUp(capturesOf: (site: string) => FakeCapture[]) {
  const site = await serve({
    '/page': { type: 'text/html', status: 410, body: 'gone' },
    '/soft': { type: 'text/html', body: SOFT_404 },
    '/fine': { type: 'text/html', body: article('The page itself.') },
    '/denied': { type: 'text/html', status: 403, body: 'no' },
    '/down': { type: 'text/html', status: 503, body: 'later' },
  })
  const origin = `http://gone.org:${site.port}`
  const archive = await serveArchive(capturesOf(origin), { host: '127.0.0.3' })
  const service = await wholeService({
    zone: { 'gone.org': ['127.0.0.2'] },
    archiveUrl: archive.origin,
    isPublic: async (url) => new URL(url).hostname.endsWith('.org'),
  })
  return {
    ...service,
    site,
    origin,
    archive,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await archive[Symbol.asyncDispose]()
      await site[Symbol.asyncDispose]()
    },
  }
}

it('recover takes the newest good copy of a page that is gone, and says where it is from', async () => {
  await using fixture = await setUp((site) => [
    { at: '20200101000000', url: `${site}/page`, body: article('The oldest copy.') },
    { at: '20210101000000', url: `${site}/page`, body: article('The good copy.') },
    { at: '20220101000000', url: `${site}/page`, body: SOFT_404 },
    { at: '20230101000000', url: `${site}/page`, status: 404, body: 'gone' },
    { at: '20210101000000', url: `${site}/soft`, body: article('What once was there.') },
    { at: '20210101000000', url: `${site}/down`, body: article('Before it went down.') },
    { at: '20210101000000', url: 'http://nowhere.org/x', body: article('From a name that is no more.') },
  ])
  const outcomes = await fixture.outcomes(
    [
      { url: `${fixture.origin}/page` },
      { url: `${fixture.origin}/soft` },
      { url: `${fixture.origin}/down` },
      { url: 'http://nowhere.org/x' },
    ],
    { recover: true },
  )
  expect(outcomes[0]?.result).toMatchObject({
    content: expect.stringContaining('The good copy.'),
    meta: {
      final_url: `${fixture.origin}/page`,
      recovered: {
        archive: new URL(fixture.archive.origin).host,
        url: `${fixture.archive.origin}/web/20210101000000id_/${fixture.origin}/page`,
        captured_at: '2021-01-01T00:00:00.000Z',
        original_status: 410,
        reason: 'http_410',
      },
    },
  })
  expect(outcomes[0]?.result?.content).toContain(`[More](${fixture.origin}/other)`)
  expect(outcomes.map(({ result }) => result?.meta.recovered?.reason)).toEqual([
    'http_410',
    'soft_404',
    'http_503',
    'dns_not_found',
  ])
})

it('recover changes nothing for a page that comes, or that the site refuses, and is off by default', async () => {
  await using fixture = await setUp((site) => [
    { at: '20210101000000', url: `${site}/page`, body: article('x') },
    { at: '20210101000000', url: `${site}/denied`, body: article('x') },
  ])
  expect((await fixture.outcome(`${fixture.origin}/fine`, { recover: true })).result?.meta.recovered).toBeUndefined()
  expect((await fixture.outcome(`${fixture.origin}/denied`, { recover: true })).error).toBe('http_403')
  expect((await fixture.outcome(`${fixture.origin}/page`)).error).toBe('http_410')
  expect(fixture.archive.requests).toEqual([])
})

it('recover says when the archive has nothing, and never asks about a private URL', async () => {
  await using fixture = await setUp(() => [])
  expect(await fixture.outcome(`${fixture.origin}/page`, { recover: true })).toMatchObject({
    error: 'not_in_archive',
    message: expect.stringContaining('410'),
  })
  const asked = fixture.archive.requests.length
  const hidden = await fixture.outcome(`${fixture.site.origin}/page`, { recover: true })
  expect(hidden).toMatchObject({ error: 'http_410', message: expect.stringMatching(/not sent|not public|private/) })
  expect(fixture.archive.requests).toHaveLength(asked)
})

it('recover asks the archive for several jobs at the same time', async () => {
  const open: (() => void)[] = []
  await using site = await serve({ '/page': { status: 410, body: 'gone' } })
  const origins = ['one.org', 'two.org'].map((host) => `http://${host}:${site.port}`)
  await using archive = await serveArchive(
    origins.map((origin) => ({ at: '20210101000000', url: `${origin}/page`, body: article('A copy.') })),
    {
      faults: {
        available: (response) => {
          open.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
          if (open.length === 2) for (const answer of open) answer() // No answer before both have come.
        },
      },
    },
  )
  await using service = await wholeService({
    zone: { 'one.org': ['127.0.0.2'], 'two.org': ['127.0.0.2'] },
    archiveUrl: archive.origin,
    isPublic: () => Promise.resolve(true),
  })
  const jobs = await Promise.all(
    origins.map((origin) =>
      service.submit({ targets: [{ url: `${origin}/page` }], options: { recover: true } }, origin),
    ),
  )
  await service.runner.idle()
  for (const [n, { body }] of jobs.entries()) expect((await service.get(body.id, origins[n])).body.status).toBe('done')
})

it('recover leaves time for the archive when the site or the archive keeps silent', async () => {
  const asked = Promise.withResolvers<void>()
  await using site = await serve({ '/page': () => {}, '/gone': { status: 404, body: 'gone' } })
  const origin = `http://gone.org:${site.port}`
  await using archive = await serveArchive([{ at: '20210101000000', url: `${origin}/page`, body: article('A copy.') }])
  const setting = {
    zone: { 'gone.org': ['127.0.0.2'] },
    archiveUrl: archive.origin,
    isPublic: () => Promise.resolve(true),
    targetTimeoutMs: 14_000,
  }
  await using service = await wholeService(setting)
  const { result } = await service.outcome(`${origin}/page`, { recover: true })
  expect(result?.meta.recovered?.reason).toBe('timeout')
  expect(result?.content).toContain('A copy.')

  await using mute = await serveArchive([], { faults: { available: () => asked.resolve(), index: () => {} } })
  await using other = await wholeService({ ...setting, archiveUrl: mute.origin })
  const outcome = await other.outcome(`${origin}/gone`, { recover: true })
  await asked.promise
  expect(outcome).toMatchObject({ error: 'http_404', message: expect.stringContaining('archive did not answer') })
}, 60_000)
