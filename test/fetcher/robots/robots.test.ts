import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'

import { describe, expect, it } from 'vitest'

import { createHostTurns } from '../../../src/fetcher/network/host-turns.ts'
import { createRobots } from '../../../src/fetcher/robots/robots.ts'
import { TARGET_ERRORS, TargetError, type TargetErrorCode } from '../../../src/jobs/target-error.ts'
import { fakeClock } from '../../helpers/fake-clock.ts'
import { type Route, serve } from '../../helpers/serve.ts'
import { testNetwork } from '../../helpers/test-network.ts'

const MINUTE_MS = 60 * 1_000
const HOUR_MS = 60 * MINUTE_MS
const NEVER = new AbortController().signal
const FILE: Route = { type: 'text/plain', body: 'User-agent: pagehaul\nDisallow: /private/\n' }

const fileWith =
  (status: number, headers: Record<string, string> = {}): Route =>
  (_request, response) => {
    response.writeHead(status, headers).end('User-agent: *\nDisallow: /\n')
  }

/** A site with this robots.txt, and what obeys it. Its clock stands still but for short pauses, which are over at once. */
async function setUp(file: Route) {
  const site = await serve({ '/robots.txt': file, '/moved.txt': FILE })
  const network = testNetwork({ zone: { 'site.example': ['127.0.0.2'], 'inside.example': ['10.0.0.1'] } })
  const time = fakeClock()
  const pauses = new EventEmitter()
  const clock = {
    now: time.now,
    async delay(ms: number, signal?: AbortSignal) {
      if (ms > 4_000) {
        const over = time.delay(ms, signal)
        pauses.emit(`${ms}`)
        return over
      }
      signal?.throwIfAborted()
      time.advance(ms)
    },
  }
  const turns = createHostTurns({ clock, gapMs: 0 })
  const userAgent = 'pagehaul/0.2.0 (+https://bot.example)'
  const robots = createRobots({ request: network.request, turns, clock, userAgent })
  return {
    time,
    turns,
    /** Resolves when somebody begins to wait for so many milliseconds, more than 4,000. */
    wait: (ms: number) => once(pauses, `${ms}`),
    hits: site.hits,
    origin: `http://site.example:${site.port}`,
    /** Undefined if the URL may be fetched. */
    async refusal(url: string, { signal = NEVER, timeLeftMs = MINUTE_MS } = {}): Promise<TargetError | undefined> {
      try {
        const deadline = time.now() + timeLeftMs
        const timeLeft = () => Math.max(0, deadline - time.now())
        await robots.assertAllowed(new URL(url, `http://site.example:${site.port}`), signal, timeLeft)
        return undefined
      } catch (error) {
        if (error instanceof TargetError) return error
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      await network.close()
      await site[Symbol.asyncDispose]()
    },
  }
}

describe('a page', () => {
  it('is refused if the robots.txt of its site disallows it, with what to do', async () => {
    await using site = await setUp(FILE)
    expect(await site.refusal('/private/page?x=1#y')).toMatchObject({
      code: 'robots_denied',
      message: `The robots.txt of ${new URL(site.origin).host} does not allow pagehaul to fetch this URL.`,
      hint: TARGET_ERRORS.robots_denied.hint,
    })
    expect(await site.refusal('/public')).toBeUndefined()
  })

  it('of another scheme, host or port has another robots.txt', async () => {
    await using site = await setUp(FILE)
    await using other = await serve({ '/robots.txt': { body: 'User-agent: *\nDisallow: /public\n' } })
    expect(await site.refusal(`http://site.example:${other.port}/private/page`)).toBeUndefined()
    expect(await site.refusal(`${other.origin}/public`)).toMatchObject({ code: 'robots_denied' })
    expect(await site.refusal(`http://127.0.0.2:${new URL(site.origin).port}/private/page`)).toBeDefined()
    expect(site.hits).toEqual(['/robots.txt'])
    expect(other.hits).toEqual(['/robots.txt', '/robots.txt'])
  })

  it('that is the robots.txt itself is allowed, and not asked for', async () => {
    await using site = await setUp({ body: 'User-agent: *\nDisallow: /\n' })
    expect(await site.refusal('/robots.txt')).toBeUndefined()
    expect(site.hits).toEqual([])
  })
})

describe('a robots.txt', () => {
  it.each([400, 401, 403, 404, 410, 451, 300])('with status %i allows all', async (status) => {
    await using site = await setUp(fileWith(status))
    expect(await site.refusal('/page')).toBeUndefined()
    expect(site.hits).toHaveLength(1)
  })

  it.each([408, 425, 429])('with status %i allows all, after three tries', async (status) => {
    await using site = await setUp(fileWith(status))
    expect(await site.refusal('/page')).toBeUndefined()
    expect(site.hits).toHaveLength(3)
  })

  it.each([500, 502, 503, 599])('with status %i disallows all, after three tries', async (status) => {
    await using site = await setUp(fileWith(status))
    expect(await site.refusal('/page')).toMatchObject({
      code: 'robots_denied',
      message: expect.stringMatching(
        new RegExp(`^The robots.txt of .+ could not be had. .+ ${status}.* \\(tried 3 times\\).$`),
      ),
      hint: expect.stringContaining('try again later'),
    })
    expect(site.hits).toHaveLength(3)
  })

  it('of a server that says when to come back is asked for again then', async () => {
    let tries = 0
    await using site = await setUp((_request, response) => {
      tries += 1
      if (tries === 1) response.writeHead(503, { 'retry-after': '30' }).end()
      else response.end('User-agent: *\nDisallow: /private/\n')
    })
    const waiting = site.wait(30_000)
    const refusals = [site.refusal('/private/page'), site.refusal('/page')]
    await waiting
    site.time.advance(30_000)
    expect(await Promise.all(refusals)).toEqual([expect.objectContaining({ code: 'robots_denied' }), undefined])
    expect(site.hits).toHaveLength(2)
  })

  it('of a server that says to come back too late is not asked for again', async () => {
    await using site = await setUp(fileWith(503, { 'retry-after': '60' }))
    expect(await site.refusal('/page')).toMatchObject({
      code: 'robots_denied',
      message: expect.stringMatching(/503 Service Unavailable\.$/),
    })
    expect(site.hits).toHaveLength(1)
  })

  it.each([429, 503])('with status %i lets everyone leave the host alone', async (status) => {
    await using site = await setUp(fileWith(status, { 'retry-after': '60' }))
    await site.refusal('/page')
    const turn = site.turns.take('site.example', { signal: NEVER, timeLeft: () => 19_999 })
    await expect(turn).rejects.toMatchObject({ code: `http_${status}` })
  })

  it('counts once it comes after a failure', async () => {
    let tries = 0
    await using site = await setUp((_request, response) => {
      tries += 1
      if (tries === 1) response.destroy()
      else response.end('User-agent: *\nDisallow: /private/\n')
    })
    expect(await site.refusal('/private/page')).toMatchObject({ message: expect.stringContaining('does not allow') })
    expect(await site.refusal('/page')).toBeUndefined()
  })

  it.each<[string, (response: ServerResponse) => void, string]>([
    [
      'is cut off',
      (response) =>
        response.writeHead(200, { 'content-length': '99' }).write('User-agent: *', () => response.destroy()),
      'closed the connection',
    ],
    ['never comes', (response) => response.destroy(), 'closed the connection'],
    ['is no HTTP', (response) => response.socket?.end('nonsense\r\n\r\n'), 'not valid HTTP'],
    [
      'is not what its coding says',
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      'damaged',
    ],
    ['is too large', (response) => response.writeHead(200, { 'content-length': '99999999' }).end(), 'larger than'],
  ])('that %s disallows all', async (_name, answer, why) => {
    await using site = await setUp((_request, response) => answer(response))
    const refusal = await site.refusal('/page')
    expect(refusal).toMatchObject({ code: 'robots_denied', message: expect.stringContaining(`could not be had. `) })
    expect(refusal?.message).toContain(why)
  })

  it('counts from where it redirects to, for the host that was asked', async () => {
    await using site = await setUp((request, response) => {
      response.writeHead(301, { location: `http://127.0.0.2:${request.socket.localPort}/moved.txt` }).end()
    })
    expect(await site.refusal('/private/page')).toMatchObject({ code: 'robots_denied' })
    expect(await site.refusal('/page')).toBeUndefined()
    expect(site.hits).toEqual(['/robots.txt', '/moved.txt'])
  })

  it.each(['/robots.txt', 'ftp://site.example/', undefined])('that redirects to %j allows all', async (location) => {
    await using site = await setUp(fileWith(302, location === undefined ? {} : { location }))
    expect(await site.refusal('/page')).toBeUndefined()
  })

  it.each(['http://10.0.0.1/robots.txt', 'http://inside.example/robots.txt', 'http://site.example:6000/robots.txt'])(
    'that redirects to %s, which the guard refuses, allows all',
    async (location) => {
      await using site = await setUp(fileWith(301, { location }))
      expect(await site.refusal('/page')).toBeUndefined()
    },
  )

  it('of a host that the guard refuses is left to the request of the page, which meets the same', async () => {
    await using site = await setUp(FILE)
    expect(await site.refusal('http://inside.example/page')).toBeUndefined()
  })

  it.each([
    ['nowhere.example', 'The host name does not exist, or has no address.'],
    ['127.0.0.3', 'The server refused the connection (tried 3 times).'],
  ])('that redirects to %s, which cannot be reached, disallows all', async (host, why) => {
    await using site = await setUp((request, response) => {
      response.writeHead(301, { location: `http://${host}:${request.socket.localPort}/robots.txt` }).end()
    })
    expect(await site.refusal('/page')).toMatchObject({
      code: 'robots_denied',
      message: expect.stringContaining(`could not be had. It redirects to ${host}. ${why}`),
      hint: expect.stringContaining('try again later'),
    })
  })

  it.each<[string, TargetErrorCode]>([
    ['nowhere.example', 'dns_not_found'],
    ['127.0.0.3', 'connect_refused'],
  ])('cannot be had from %s: the code is %s, and it is asked for again', async (host, code) => {
    await using site = await setUp(FILE)
    const url = `http://${host}:${new URL(site.origin).port}/page`
    for (const path of ['/a', '/b']) {
      expect(await site.refusal(url + path)).toMatchObject({
        code,
        message: expect.stringMatching(/, when its robots\.txt was asked for\.$/),
        hint: TARGET_ERRORS[code as keyof typeof TARGET_ERRORS].hint,
      })
    }
  })

  it('that does not come in 20 s disallows all, and is asked for again', async () => {
    let asked = Promise.withResolvers<void>()
    await using site = await setUp(() => asked.resolve())
    for (const path of ['/a', '/b']) {
      const refusal = site.refusal(path)
      await asked.promise
      asked = Promise.withResolvers()
      site.time.advance(20_000)
      expect(await refusal).toMatchObject({ code: 'robots_denied', message: expect.stringContaining('within 20 s') })
    }
    expect(site.hits).toHaveLength(2)
  })
})

describe('to wait for the turn at the host', () => {
  it('is not to wait for an answer, however long it takes', async () => {
    await using site = await setUp(FILE)
    site.turns.pause('site.example', 20_000, 503)
    const waiting = site.wait(20_000)
    const refusal = site.refusal('/page')
    await waiting
    expect(site.hits).toEqual([])
    site.time.advance(20_000)
    expect(await refusal).toBeUndefined()
    expect(site.hits).toHaveLength(1)
  })

  it.each([429, 503] as const)(
    'for longer than there is time fails with %i, which is not remembered',
    async (status) => {
      await using site = await setUp(FILE)
      site.turns.pause('site.example', 20_000, status)
      expect(await site.refusal('/page', { timeLeftMs: 10_000 })).toMatchObject({
        code: `http_${status}`,
        message: expect.stringContaining('is left alone for another 20 s'),
      })
      site.time.advance(20_000)
      expect(await site.refusal('/page')).toBeUndefined()
    },
  )

  it('in a queue for longer than there is time fails with timeout, which is not remembered', async () => {
    await using site = await setUp(FILE)
    const leave = await site.turns.take('site.example', { signal: NEVER, timeLeft: () => MINUTE_MS })
    const waiting = site.wait(9_000)
    const refusal = site.refusal('/page', { timeLeftMs: 9_000 })
    await waiting
    site.time.advance(9_000)
    expect(await refusal).toMatchObject({ code: 'timeout', message: expect.stringContaining('Other requests') })
    expect(site.hits).toEqual([])
    leave()
    expect(await site.refusal('/page')).toBeUndefined()
  })
})

describe('what is known of a site', () => {
  it('is used for a day', async () => {
    await using site = await setUp(FILE)
    await site.refusal('/page')
    site.time.advance(24 * HOUR_MS - 1)
    await site.refusal('/page')
    expect(site.hits).toHaveLength(1)
    site.time.advance(1)
    await site.refusal('/page')
    expect(site.hits).toHaveLength(2)
  })

  it('is used for five minutes if its robots.txt could not be had', async () => {
    await using site = await setUp(fileWith(503))
    await site.refusal('/page')
    site.time.advance(5 * MINUTE_MS - 1)
    expect(await site.refusal('/page')).toMatchObject({ code: 'robots_denied' })
    expect(site.hits).toHaveLength(3)
    site.time.advance(1)
    await site.refusal('/page')
    expect(site.hits).toHaveLength(6)
  })

  it.each([
    [429, {}],
    [302, { location: 'http://10.0.0.1/robots.txt' }],
  ])('is used for five minutes if all is allowed only by what may pass: status %i', async (status, headers) => {
    await using site = await setUp(fileWith(status, headers))
    await site.refusal('/page')
    const asked = site.hits.length
    site.time.advance(5 * MINUTE_MS - 1)
    await site.refusal('/page')
    expect(site.hits).toHaveLength(asked)
    site.time.advance(1)
    await site.refusal('/page')
    expect(site.hits).toHaveLength(2 * asked)
  })
})

describe('those who ask at the same time', () => {
  it('share one request, and one who leaves does not end it for the others', async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    await using site = await setUp((_request, response) => asked.resolve(response))
    const cancel = new AbortController()
    const first = site.refusal('/private/page', { signal: cancel.signal })
    const others = [site.refusal('/private/page'), site.refusal('/page')]
    const response = await asked.promise
    cancel.abort(new Error('The target was cancelled.'))
    await expect(first).rejects.toThrow('The target was cancelled.')
    response.end('User-agent: *\nDisallow: /private/\n')
    expect(await Promise.all(others)).toEqual([expect.objectContaining({ code: 'robots_denied' }), undefined])
    expect(site.hits).toHaveLength(1)
  })

  it('wait for the turn at the host for as long as one of them has time', async () => {
    await using site = await setUp(FILE)
    site.turns.pause('site.example', 20_000, 503)
    const waiting = site.wait(20_000)
    const refusals = [site.refusal('/page', { timeLeftMs: 1_000 }), site.refusal('/private/page')]
    await waiting
    site.time.advance(20_000)
    expect(await Promise.all(refusals)).toEqual([undefined, expect.objectContaining({ code: 'robots_denied' })])
    expect(site.hits).toHaveLength(1)
  })

  it('wait longer once somebody joins who has more time', async () => {
    await using site = await setUp(FILE)
    const leave = await site.turns.take('site.example', { signal: NEVER, timeLeft: () => MINUTE_MS })
    const hasty = site.wait(5_000)
    const first = site.refusal('/page', { timeLeftMs: 5_000 })
    await hasty
    const patient = site.wait(MINUTE_MS - 5_000)
    const second = site.refusal('/private/page')
    site.time.advance(5_000)
    await patient
    leave()
    expect(await first).toBeUndefined()
    expect(await second).toMatchObject({ code: 'robots_denied' })
  })

  it('end the request when all have left, and the next who asks starts another', async () => {
    const responses: ServerResponse[] = []
    let asked = Promise.withResolvers<ServerResponse>()
    await using site = await setUp((_request, response) => {
      responses.push(response)
      asked.resolve(response)
    })
    const cancel = new AbortController()
    const leaving = site.refusal('/private/page', { signal: cancel.signal })
    const left = new Promise((resolve) => void asked.promise.then((response) => response.once('close', resolve)))
    await asked.promise
    asked = Promise.withResolvers()
    cancel.abort(new Error('The target was cancelled.'))
    await expect(leaving).rejects.toThrow('The target was cancelled.')
    await left
    const next = site.refusal('/private/page')
    ;(await asked.promise).end('User-agent: *\nDisallow: /private/\n')
    expect(await next).toMatchObject({ code: 'robots_denied' })
    expect(responses).toHaveLength(2)
  })

  it('throw the reason of a signal that has aborted before', async () => {
    await using site = await setUp(FILE)
    await expect(site.refusal('/page', { signal: AbortSignal.abort(new Error('Too late.')) })).rejects.toThrow(
      'Too late.',
    )
  })
})
