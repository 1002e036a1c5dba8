import { expect, it } from 'vitest'

import type { JobView } from '../../src/jobs/schema.ts'
import { TARGET_ERRORS } from '../../src/jobs/target-error.ts'
import { startService } from '../helpers/process.ts'
import { type Route, serve } from '../helpers/serve.ts'
import { wholeService } from '../helpers/whole-service.ts'

const page = (text: string): Route => ({ type: 'text/plain', body: text })
const ZONE = { 'site.example': ['127.0.0.2'] }

it('with robots: obey, a target that its site disallows fails with robots_denied, and nothing but robots.txt is asked for', async () => {
  await using site = await serve({
    '/robots.txt': page('User-agent: *\nDisallow: /\n\nUser-agent: pagehaul-test\nDisallow: /private/\n'),
    '/private/page': page('Private.'),
    '/public': page('Public.'),
  })
  await using service = await wholeService({ zone: ZONE, robots: 'obey' })
  const origin = `http://site.example:${site.port}`
  expect(await service.outcomes([{ url: `${origin}/private/page` }, { url: `${origin}/public` }])).toMatchObject([
    {
      status: 'failed',
      error: 'robots_denied',
      message: `The robots.txt of site.example:${site.port} does not allow pagehaul-test to fetch this URL.`,
      hint: TARGET_ERRORS.robots_denied.hint,
    },
    { status: 'done', result: { content: 'Public.' } },
  ])
  expect(site.hits).toEqual(['/robots.txt', '/public'])
})

it('with robots: obey, what a redirect leads to is asked for at its own site', async () => {
  await using other = await serve({ '/robots.txt': page('User-agent: *\nDisallow: /no\n'), '/yes': page('Yes.') })
  const redirect =
    (path: string): Route =>
    (_request, response) => {
      response.writeHead(302, { location: `${other.origin}${path}` }).end()
    }
  await using site = await serve({ '/to-no': redirect('/no'), '/to-yes': redirect('/yes') })
  await using service = await wholeService({ zone: ZONE, robots: 'obey' })
  const origin = `http://site.example:${site.port}`
  expect(await service.outcomes([{ url: `${origin}/to-no` }, { url: `${origin}/to-yes` }])).toMatchObject([
    { status: 'failed', error: 'robots_denied', message: expect.stringContaining(new URL(other.origin).host) },
    { status: 'done', result: { content: 'Yes.' } },
  ])
  expect(site.hits).toEqual(['/robots.txt', '/to-no', '/to-yes'])
  expect(other.hits).toEqual(['/robots.txt', '/yes'])
})

it('with robots: obey, nothing is fetched of a site whose robots.txt fails, and a web archive is not asked instead', async () => {
  await using site = await serve({ '/robots.txt': { status: 500, body: 'later' }, '/page': page('Page.') })
  await using service = await wholeService({ zone: ZONE, robots: 'obey' })
  expect(await service.outcome(`http://site.example:${site.port}/page`, { recover: true })).toMatchObject({
    status: 'failed',
    error: 'robots_denied',
    message: `The robots.txt of site.example:${site.port} could not be had. The server answered 500 Internal Server Error (tried 3 times).`,
    hint: expect.stringContaining('try again later'),
  })
  expect(site.hits).toEqual(['/robots.txt', '/robots.txt', '/robots.txt'])
})

it('with robots: obey, a host that does not exist is told from one that disallows', async () => {
  await using service = await wholeService({ robots: 'obey' })
  expect(await service.outcome('http://nowhere.example/')).toMatchObject({
    error: 'dns_not_found',
    message: expect.stringContaining('when its robots.txt was asked for'),
  })
})

it('with robots: obey, a host that cannot be reached is tried three times in all', async () => {
  const lookup = () => Promise.reject(Object.assign(new Error('queryA site.example'), { code: 'ESERVFAIL' }))
  await using service = await wholeService({ zone: { 'site.example': lookup }, robots: 'obey' })
  expect(await service.outcome('http://site.example/')).toMatchObject({
    error: 'dns_failure',
    message: expect.stringMatching(/ \(tried 3 times\), when its robots\.txt was asked for\.$/),
  })
  expect(service.network.lookups).toHaveLength(3)
})

it('with robots: obey, what the guard refuses is the URL asked for, not a robots.txt that redirects to what is refused', async () => {
  await using site = await serve({
    '/robots.txt': (_request, response) => {
      response.writeHead(302, { location: 'http://10.0.0.1/robots.txt' }).end()
    },
    '/page': page('Page.'),
  })
  await using service = await wholeService({ zone: { ...ZONE, 'inside.example': ['10.0.0.1'] }, robots: 'obey' })
  const urls = [`http://site.example:${site.port}/page`, 'http://inside.example/page']
  expect(await service.outcomes(urls.map((url) => ({ url })))).toMatchObject([
    { status: 'done', result: { content: 'Page.' } },
    { error: 'blocked_address', message: expect.not.stringContaining('robots.txt') },
  ])
})

it('by default, no robots.txt is asked for', async () => {
  await using site = await serve({ '/robots.txt': page('User-agent: *\nDisallow: /\n'), '/page': page('Page.') })
  await using service = await wholeService({ zone: ZONE })
  expect(await service.outcome(`http://site.example:${site.port}/page`)).toMatchObject({ status: 'done' })
  expect(site.hits).toEqual(['/page'])
})

it('PAGEHAUL_ROBOTS=obey and the first word of PAGEHAUL_USER_AGENT count', async () => {
  await using site = await serve({
    '/robots.txt': page('User-agent: *\nDisallow:\n\nUser-agent: ReadingRoom\nDisallow: /private\n'),
    '/private': page('Private.'),
  })
  const service = await startService({
    DATABASE_URL: ':memory:',
    PAGEHAUL_ROBOTS: 'obey',
    PAGEHAUL_USER_AGENT: 'ReadingRoom/2.0 (+https://room.example)',
  })
  try {
    const { body } = await service.submit({ targets: [{ url: `${site.origin}/private` }] })
    const headers = { 'x-caller-id': 'alice', prefer: 'wait=50' }
    const response = await fetch(`${service.origin}/jobs/${body.id}`, { headers })
    const { targets } = (await response.json()) as JobView
    expect(targets[0]).toMatchObject({ error: 'robots_denied', message: expect.stringContaining('readingroom') })
    expect(site.hits).toEqual(['/robots.txt'])
  } finally {
    await service.stop('SIGTERM')
  }
})
