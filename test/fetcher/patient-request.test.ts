import { describe, expect, it } from 'vitest'

import { NoTurnError } from '../../src/fetcher/network/host-turns.ts'
import type { FetchedResponse } from '../../src/fetcher/network/response.ts'
import { createPatientRequest } from '../../src/fetcher/patient-request.ts'
import { TargetError, type TargetErrorCode } from '../../src/jobs/target-error.ts'
import { fakeClock } from '../helpers/fake-clock.ts'

const PAGE = 'https://a.example/page'

/** What comes of each try: a status, with headers perhaps, or a failure of the network; or there is no turn at the host. */
type Step =
  | number
  | { readonly status: number; readonly headers: Record<string, string> }
  | TargetErrorCode
  | NoTurnError

/** A request whose tries end as the steps say, the last one again and again; every wait is over at once. */
const setUp = (...steps: readonly Step[]) => setUpWith(() => 1, ...steps)

/** @param random what the pauses depend on. */
function setUpWith(random: () => number, ...steps: readonly Step[]) {
  const time = fakeClock()
  const waits: number[] = []
  const clock = {
    now: time.now,
    async delay(ms: number, signal?: AbortSignal) {
      signal?.throwIfAborted()
      waits.push(ms)
      time.advance(ms)
    },
  }
  let tries = 0
  let step: Step | undefined
  const pauses: [number, number][] = []
  const request = createPatientRequest({
    clock,
    random,
    turns: {
      async take() {
        if (step instanceof NoTurnError) throw step
        return () => undefined
      },
      pause: (_host, ms, status) => pauses.push([status, ms]),
    },
    request: async (url, signal, admit) => {
      step = steps[Math.min(tries, steps.length - 1)]
      tries += 1
      await admit?.(new URL(url), signal)
      if (step instanceof NoTurnError) throw new Error('It was sent all the same.')
      if (typeof step === 'string') throw new TargetError(step, 'It failed.')
      const { status, headers } = typeof step === 'object' ? step : { status: step ?? 200, headers: {} }
      return {
        url,
        status,
        headers,
        contentType: undefined,
        body: new Uint8Array(),
        attempts: 1,
      } satisfies FetchedResponse
    },
  })
  const signal = new AbortController().signal
  return {
    waits,
    pauses,
    get: (timeLeft = () => 3_600_000) => request(PAGE, signal, timeLeft),
    get tries() {
      return tries
    },
  }
}

it.each<TargetErrorCode>(['dns_failure', 'connect_refused', 'connect_timeout', 'unreachable', 'connection_closed'])(
  'tries %s three times, with pauses that double, and says so',
  async (code) => {
    const server = setUp(code)
    await expect(server.get()).rejects.toMatchObject({ code, message: 'It failed (tried 3 times).' })
    expect(server.tries).toBe(3)
    expect(server.waits).toEqual([1_000, 2_000])
  },
)

it('pauses for a random part of that, which is another one each time', async () => {
  const parts = [0.5, 0.25]
  const server = setUpWith(() => parts.shift() ?? 0, 'connect_refused')
  await expect(server.get()).rejects.toMatchObject({ message: 'It failed (tried 3 times).' })
  expect(server.waits).toEqual([500, 500])
})

it.each<TargetErrorCode>([
  'blocked_address',
  'blocked_port',
  'dns_not_found',
  'tls_expired',
  'tls_wrong_host',
  'tls_untrusted',
  'tls_failed',
  'too_large',
  'bad_response',
  'bad_encoding',
  'redirect_loop',
  'too_many_redirects',
  'robots_denied',
])('does not try %s again', async (code) => {
  const server = setUp(code)
  await expect(server.get()).rejects.toMatchObject({ code, message: 'It failed.' })
  expect(server.tries).toBe(1)
})

it.each([408, 425, 429, 500, 502, 503, 504, 599])('tries status %i three times', async (status) => {
  const server = setUp(status)
  expect(await server.get()).toMatchObject({ status, attempts: 3 })
})

it.each([200, 204, 304, 400, 401, 403, 404, 410, 451, 600, 999])('takes status %i for an answer', async (status) => {
  const server = setUp(status)
  expect(await server.get()).toMatchObject({ status, attempts: 1 })
})

describe('no turn at the host', () => {
  const noTurn = new NoTurnError('timeout', 'Others.')

  it('is not tried again', async () => {
    const server = setUp(noTurn)
    await expect(server.get()).rejects.toBe(noTurn)
    expect(server.tries).toBe(1)
  })

  it('for another try leaves what the one before gave', async () => {
    expect(await setUp(500, noTurn).get()).toMatchObject({ status: 500, attempts: 1 })
    await expect(setUp('connection_closed', 'dns_failure', noTurn).get()).rejects.toMatchObject({
      code: 'dns_failure',
      message: 'It failed (tried 2 times).',
    })
  })
})

it('gives the first answer that stands', async () => {
  expect(await setUp('connection_closed', 503, 200).get()).toMatchObject({ status: 200, attempts: 3 })
  expect(await setUp(500, 404).get()).toMatchObject({ status: 404, attempts: 2 })
})

describe('Retry-After', () => {
  const answer = (status: number, value: string) => ({ status, headers: { 'retry-after': value } })

  it('is waited for, if it is longer than the pause', async () => {
    const server = setUp(answer(429, '30'), answer(503, '0'), 200)
    expect(await server.get()).toMatchObject({ status: 200 })
    expect(server.waits).toEqual([30_000, 2_000])
  })

  it('is read as a date', async () => {
    const server = setUp(answer(503, 'Thu, 01 Jan 2026 00:00:20 GMT'), 200)
    await server.get()
    expect(server.waits).toEqual([20_000])
  })

  it.each(['soon', '-5', '1.5', '', 'Thu, 99 Foo'])('%j is nonsense and changes nothing', async (value) => {
    const server = setUp(answer(503, value), 200)
    await server.get()
    expect(server.waits).toEqual([1_000])
    expect(server.pauses).toEqual([[503, 2_000]])
  })

  it.each(['61', '99999999999999999999'])('of more than a minute is not waited for: %s s', async (value) => {
    const server = setUp(answer(429, value), 200)
    expect(await server.get()).toMatchObject({ status: 429, attempts: 1 })
    expect(server.pauses).toEqual([[429, Number(value) * 1_000]])
  })
})

it('tells everyone to leave a host alone after 429 and 503, and after no other status', async () => {
  const server = setUp(429, 503, 502)
  await server.get()
  expect(server.pauses).toEqual([
    [429, 2_000],
    [503, 2_000],
  ])
})

it('does not wait for what is too late', async () => {
  const server = setUp(503, 200)
  expect(await server.get(() => 999)).toMatchObject({ status: 503, attempts: 1 })
})
