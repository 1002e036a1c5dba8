import { describe, expect, it } from 'vitest'

import { systemClock } from '../../../src/clock.ts'
import { createArchive } from '../../../src/fetcher/archive/archive.ts'
import { convertPage } from '../../../src/fetcher/convert/html/html-page.ts'
import { createIsPublicUrl } from '../../../src/fetcher/network/public-url.ts'
import type { FetchedResponse } from '../../../src/fetcher/network/response.ts'
import { isRecoverable, type LostPage, recover } from '../../../src/fetcher/recover.ts'
import { TARGET_ERRORS, TargetError, type TargetErrorCode } from '../../../src/jobs/target-error.ts'
import { failing, type FakeCapture, serveArchive } from '../../helpers/fake-archive.ts'
import { testNetwork } from '../../helpers/test-network.ts'

const PAGE = 'https://gone.org/a/page'
const GONE: LostPage = { url: PAGE, error: new TargetError('http_404', 'The server answered 404 Not Found.') }
const never = new AbortController().signal

/** Converts as the service does, and takes a page for missing that says so. */
async function read({ body, url }: FetchedResponse): Promise<{ content: string; url: string }> {
  const text = Buffer.from(body).toString()
  if (text.includes('not found')) throw new TargetError('soft_404', 'The page says that it is not there.')
  if (text.trim() === '') throw new TargetError('empty', 'The page has no text.')
  const converted = convertPage(text, url, 'full', {})
  if ('failure' in converted) throw new TargetError(converted.failure.code, converted.failure.message)
  return { content: converted.content.trim(), url }
}

type Faults = NonNullable<Parameters<typeof serveArchive>[1]>

/** Everything but the archive itself is real. `await using` closes it. */
async function recoveryFrom(captures: readonly FakeCapture[], options: Faults = {}) {
  const server = await serveArchive(captures, options)
  const network = testNetwork()
  const archive = createArchive({
    request: network.request,
    archiveUrl: `${server.origin}/`,
    isPublic: createIsPublicUrl(() => Promise.resolve(['93.184.216.34'])),
    clock: systemClock,
  })
  return {
    server,
    recover: (page: LostPage, signal = never, convert = read) => recover(page, { archive, convert }, signal),
    async [Symbol.asyncDispose]() {
      await network.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

const article = (text: string) => `<!doctype html><html><body><p>${text} <a href="../other">More</a></p></body></html>`
const old = { at: '20210101000000', url: PAGE, body: article('The old text.') }
const newer = { at: '20230101000000', url: PAGE, body: article('The newer text.') }

describe('a page that cannot be had', () => {
  it('is taken from the archive, and says so', async () => {
    await using fixture = await recoveryFrom([old, newer])
    expect(await fixture.recover(GONE)).toEqual({
      value: { content: 'The newer text. [More](https://gone.org/other)', url: PAGE },
      recovered: {
        archive: new URL(fixture.server.origin).host,
        url: `${fixture.server.origin}/web/20230101000000id_/${PAGE}`,
        captured_at: '2023-01-01T00:00:00.000Z',
        original_status: 404,
        reason: 'http_404',
      },
    })
  })

  it('has no status if no server answered', async () => {
    await using fixture = await recoveryFrom([old])
    const error = new TargetError('dns_not_found', 'The host name does not exist, or has no address.')
    const { recovered } = await fixture.recover({ url: PAGE, error })
    expect(recovered).toMatchObject({ reason: 'dns_not_found' })
    expect(recovered).not.toHaveProperty('original_status')
  })

  it('has its status even if that was one of success', async () => {
    await using fixture = await recoveryFrom([old])
    const error = new TargetError('soft_404', 'The page says that it is not there.')
    const { recovered } = await fixture.recover({ url: PAGE, error, status: 200 })
    expect(recovered).toMatchObject({ reason: 'soft_404', original_status: 200 })
  })

  it('keeps its fragment, as any page does', async () => {
    await using fixture = await recoveryFrom([old])
    expect((await fixture.recover({ ...GONE, url: `${PAGE}#part` })).value.url).toBe(`${PAGE}#part`)
  })

  it.each([
    ['says that it is missing', { body: article('Page not found.') }],
    ['is blank', { body: ' ' }],
  ])('is taken from an older copy if the newest one %s', async (_, bad) => {
    await using fixture = await recoveryFrom([old, { ...newer, ...bad }])
    const { value, recovered } = await fixture.recover(GONE)
    expect(value.content).toContain('The old text.')
    expect(recovered.captured_at).toBe('2021-01-01T00:00:00.000Z')
  })
})

describe('an archive without a good copy', () => {
  it('fails the page with both reasons', async () => {
    await using fixture = await recoveryFrom([])
    await expect(fixture.recover(GONE)).rejects.toMatchObject({
      code: 'not_in_archive',
      message: 'The server answered 404 Not Found, and the archive has no good copy.',
      hint: TARGET_ERRORS.not_in_archive.hint,
    })
  })

  it('says what is wrong with the newest one', async () => {
    await using fixture = await recoveryFrom([
      { ...old, body: ' ' },
      { ...newer, body: article('Page not found.') },
    ])
    await expect(fixture.recover(GONE)).rejects.toMatchObject({
      code: 'not_in_archive',
      message: 'The server answered 404 Not Found, and the archive has no good copy (the newest one: soft_404).',
    })
  })
})

describe('an archive that cannot be asked', () => {
  it.each([
    ['is busy', 429, 'it asks for fewer requests, and for none for 60 s'],
    ['is out of order', 503, 'it answered 503 Service Unavailable'],
  ])('because it %s leaves the page with its own code', async (_, status, why) => {
    const faults = { available: failing(status), index: failing(status) }
    await using fixture = await recoveryFrom([old], { faults })
    await expect(fixture.recover(GONE)).rejects.toMatchObject({
      code: 'http_404',
      message: `The server answered 404 Not Found, and the archive cannot be asked now: ${why}.`,
      hint: 'Try again later; the archive may have a copy.',
    })
  })

  it('after a bad copy may have a good one', async () => {
    await using fixture = await recoveryFrom([{ ...newer, body: ' ' }], { faults: { index: failing(503) } })
    await expect(fixture.recover(GONE)).rejects.toMatchObject({ code: 'http_404' })
  })

  it('because the page is private leaves it with its own code, and learns nothing', async () => {
    await using fixture = await recoveryFrom([])
    const error = new TargetError('connect_refused', 'The server refused the connection.')
    await expect(fixture.recover({ url: 'http://10.1.2.3/plan', error })).rejects.toMatchObject({
      code: 'connect_refused',
      message: 'The server refused the connection, and it is not looked up in an archive, since its URL is not public.',
      hint: expect.stringContaining('all the world') as string,
    })
    expect(fixture.server.requests).toEqual([])
  })
})

it('lets a bug in the conversion through', async () => {
  const bug = new Error('A bug.')
  await using fixture = await recoveryFrom([old])
  await expect(fixture.recover(GONE, never, () => Promise.reject(bug))).rejects.toBe(bug)
})

it('ends with the signal', async () => {
  const reason = new Error('The deadline has passed.')
  const controller = new AbortController()
  await using fixture = await recoveryFrom([old], { faults: { available: () => controller.abort(reason) } })
  await expect(fixture.recover(GONE, controller.signal)).rejects.toBe(reason)
})

it('is for pages that are gone or cannot be reached, not for those that are kept back, refused or not converted', () => {
  const statuses = [400, 401, 403, 404, 406, 408, 410, 418, 429, 451, 500, 502, 503, 504, 522, 599]
  const codes = [...Object.keys(TARGET_ERRORS), ...statuses.map((status) => `http_${status}`)] as TargetErrorCode[]
  expect(codes.filter((code) => isRecoverable(code))).toEqual([
    'dns_not_found',
    'dns_failure',
    'connect_refused',
    'connect_timeout',
    'unreachable',
    'tls_expired',
    'tls_wrong_host',
    'tls_untrusted',
    'tls_failed',
    'timeout',
    'connection_closed',
    'bad_response',
    'bad_encoding',
    'bad_redirect',
    'soft_404',
    'http_404',
    'http_410',
    'http_500',
    'http_502',
    'http_503',
    'http_504',
    'http_522',
    'http_599',
  ])
})
