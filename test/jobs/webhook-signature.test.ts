import { randomBytes } from 'node:crypto'

import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'

import { parseWebhookSecret, signWebhook } from '../../src/jobs/webhook-signature.ts'

const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`
const bytesOf = (...secrets: string[]) => secrets.flatMap((secret) => parseWebhookSecret(secret) ?? [])

describe('signWebhook', () => {
  it('signs so that the Standard Webhooks library takes it, and not once a character is another', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 24, max: 64 }), (text, length) => {
        const secret = newSecret(length)
        const body = JSON.stringify({ text })
        const headers = signWebhook(bytesOf(secret), { id: 'msg_1', at: Date.now(), body })
        expect(new Webhook(secret).verify(body, headers)).toEqual({ text })
        expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature')
        expect(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'msg_2' })).toThrow('No matching')
        expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow('No matching signature')
      }),
    )
  })

  it('signs with every secret, so that a receiver with the old or the new one takes it', () => {
    const secrets = [newSecret(), newSecret()]
    const headers = signWebhook(bytesOf(...secrets), { id: 'msg_1', at: Date.now(), body: '{}' })
    for (const secret of secrets) expect(new Webhook(secret).verify('{}', headers)).toEqual({})
  })

  it('tells the time in whole seconds', () => {
    const headers = signWebhook(bytesOf(newSecret()), { id: 'msg_1', at: 1_767_225_600_999, body: '{}' })
    expect(headers['webhook-timestamp']).toBe('1767225600')
  })
})

describe('parseWebhookSecret', () => {
  it.each([
    '',
    'whsec_',
    newSecret(23),
    newSecret(65),
    newSecret().slice('whsec_'.length),
    newSecret().toUpperCase(),
    newSecret(32).slice(0, -1),
    `${newSecret()} `,
    `whsec_${'ä'.repeat(40)}`,
    `whsec_${'-_'.repeat(20)}`,
  ])('refuses %j', (text) => {
    expect(parseWebhookSecret(text)).toBeUndefined()
  })
})
