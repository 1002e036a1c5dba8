import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { WebhookAnswer } from '../../src/jobs/webhook-message.ts'
import { afterAttempt, WEBHOOK_JITTER, WEBHOOK_RETRIES_MS } from '../../src/jobs/webhook-schedule.ts'

const HOUR_MS = 3_600_000
const LAST = WEBHOOK_RETRIES_MS.length + 1
const failure = (error: string): WebhookAnswer => ({ failure: { error, message: 'It failed.' } })
const after = (answer: WebhookAnswer, attempts = 1, random = 0) =>
  afterAttempt(answer, { attempts, now: 1_000, random })

describe('afterAttempt', () => {
  it('ends with any 2xx, at any attempt', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 299 }), fc.integer({ min: 1, max: LAST }), (status, attempts) => {
        expect(after({ status }, attempts)).toEqual({ state: 'delivered', dueAt: undefined, lastError: undefined })
      }),
    )
  })

  it.each<WebhookAnswer>([
    { status: 410 },
    failure('blocked_address'),
    failure('blocked_port'),
    failure('invalid_url'),
  ])('gives up at once on %j', (answer) => {
    expect(after(answer)).toMatchObject({ state: 'failed', dueAt: undefined })
  })

  it.each<[WebhookAnswer, string]>([
    [{ status: 302 }, 'http_302: The server answered 302.'],
    [{ status: 404 }, 'http_404: The server answered 404.'],
    [{ status: 429 }, 'http_429: The server answered 429.'],
    [{ status: 503 }, 'http_503: The server answered 503.'],
    [failure('dns_not_found'), 'dns_not_found: It failed.'],
    [failure('tls_expired'), 'tls_expired: It failed.'],
    [failure('timeout'), 'timeout: It failed.'],
    [failure('internal'), 'internal: It failed.'],
  ])('tries again after %j', (answer, lastError) => {
    expect(after(answer)).toEqual({ state: 'pending', dueAt: 6_000, lastError })
  })

  it('waits longer each time, over most of a day, within the jitter, and gives up after the last', () => {
    const pauses = WEBHOOK_RETRIES_MS.map((pause, index) => {
      fc.assert(
        fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
          const { state, dueAt = 0 } = after({ status: 500 }, index + 1, random)
          expect(state).toBe('pending')
          expect(dueAt - 1_000).toBeGreaterThanOrEqual(pause)
          expect(dueAt - 1_000).toBeLessThanOrEqual(pause * (1 + WEBHOOK_JITTER))
        }),
      )
      return pause
    })
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
    const total = pauses.reduce((sum, pause) => sum + pause, 0)
    expect(total).toBeGreaterThan(12 * HOUR_MS)
    expect(total * (1 + WEBHOOK_JITTER)).toBeLessThan(24 * HOUR_MS) // The lease of a job, after which it is gone.
    expect(after({ status: 500 }, LAST)).toMatchObject({ state: 'failed', dueAt: undefined })
  })
})
