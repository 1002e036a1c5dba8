import { describe, expect, it } from 'vitest'

import { createDeliverWebhook } from '../../src/fetcher/webhook/deliver-webhook.ts'
import type { WebhookView } from '../../src/jobs/schema.ts'
import { WEBHOOK_RETRIES_MS } from '../../src/jobs/webhook-schedule.ts'
import { rawAnswers } from '../helpers/raw-server.ts'
import { buildService, targets } from '../helpers/service.ts'
import { testNetwork, type Zone } from '../helpers/test-network.ts'
import { answering, fakeDelivery, opened, serveSink, WEBHOOK_SECRETS, webhookAfter } from '../helpers/webhook-sink.ts'

type Service = Awaited<ReturnType<typeof buildService>>

/** A service whose webhooks go out through the real network and its guard. `await using` closes both. */
async function serviceWithNetwork(zone: Zone = {}) {
  const network = testNetwork({ zone })
  const webhooks = { deliver: createDeliverWebhook(network), secrets: WEBHOOK_SECRETS, random: () => 0 }
  const service = await buildService({ webhooks })
  service.fetch.answer((call) => call.succeed('A'))
  return {
    service,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await network.close()
    },
  }
}

/** Runs a job with a webhook to its end, and until an attempt on the webhook is stored. */
async function attempted(service: Service, url: string): Promise<{ id: string; webhook: WebhookView }> {
  const { status, body } = await service.submit({ targets: targets('a'), webhook: { url } })
  expect(status).toBe(202)
  return { id: body.id, webhook: await webhookAfter(service, body.id, 1) }
}

describe('a submission with a webhook', () => {
  it('is refused where webhooks cannot be signed, with what the operator must set', async () => {
    await using service = await buildService()
    const { body } = await service.submit({ targets: targets('a'), webhook: { url: 'https://hooks.example/' } })
    expect(body).toMatchObject({ status: 422, code: 'validation_failed' })
    expect(body.errors).toEqual([{ pointer: '/webhook', detail: expect.stringContaining('PAGEHAUL_WEBHOOK_SECRET') }])
    expect((await service.list()).body.jobs).toEqual([])
  })

  it.each([
    ['no URL', {}, '/webhook/url'],
    ['text', 'https://hooks.example/', '/webhook'],
    ['null', null, '/webhook'],
    ['a relative URL', { url: 'hooks.example' }, '/webhook/url'],
    ['another scheme', { url: 'ftp://hooks.example/' }, '/webhook/url'],
    ['credentials', { url: 'https://user:password@hooks.example/' }, '/webhook/url'],
    ['a URL that is too long', { url: `https://hooks.example/${'x'.repeat(8_192)}` }, '/webhook/url'],
    ['a field that there is not', { url: 'https://hooks.example/', secret: 'x' }, '/webhook/secret'],
  ])('is refused with %s', async (_what, webhook, pointer) => {
    await using service = await buildService({ webhooks: fakeDelivery().webhooks })
    const payload = { targets: targets('a'), webhook }
    const response = await service.app.inject({ method: 'POST', url: '/jobs', payload })
    expect(response.statusCode).toBe(422)
    expect(response.json()).toMatchObject({ errors: [{ pointer }] })
  })

  it('is the same submission as without it, and the first one decides', async () => {
    await using service = await buildService({ webhooks: fakeDelivery().webhooks })
    const submit = async (url?: string) =>
      (await service.submit({ targets: targets('a'), ...(url === undefined ? {} : { webhook: { url } }) })).body
    const first = await submit('https://one.example/')
    for (const url of ['https://two.example/', undefined]) {
      const { id, reused, webhook } = await submit(url)
      expect({ id, reused, url: webhook?.url }).toEqual({ id: first.id, reused: true, url: 'https://one.example/' })
    }
  })

  it('shows its webhook wherever the job is shown, to its caller alone', async () => {
    await using service = await buildService({ webhooks: fakeDelivery().webhooks })
    const webhook = { url: 'https://hooks.example/?token=abc', state: 'pending', attempts: 0 }
    const { body } = await service.submit({ targets: targets('a'), webhook: { url: webhook.url } })
    expect(body.webhook).toEqual(webhook)
    expect((await service.get(body.id)).body.webhook).toEqual(webhook)
    expect((await service.list()).body.jobs).toMatchObject([{ id: body.id, webhook }])
    expect((await service.get(body.id, 'bob')).body).toMatchObject({ code: 'job_not_found' })
  })

  it('gets another entity tag with every attempt', async () => {
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const { id } = (await service.submit({ targets: targets('a'), webhook: { url: 'https://hooks.example/' } })).body
    const attempt = await hook.next()
    const { etag } = (await service.get(id)).headers
    attempt.answer(200)
    await webhookAfter(service, id, 1)
    const headers = { 'x-caller-id': 'alice', 'if-none-match': etag }
    expect((await service.app.inject({ url: `/jobs/${id}`, headers })).json()).toMatchObject({
      webhook: { state: 'delivered' },
    })
  })
})

describe('a webhook on the wire', () => {
  it('leaves a line in the log for each attempt, without its URL', async () => {
    const lines: string[] = []
    const hook = fakeDelivery()
    await using service = await buildService({ webhooks: hook.webhooks, log: { write: (line) => lines.push(line) } })
    service.fetch.answer((call) => call.succeed('A'))
    const url = 'https://hooks.example/?token=abc'
    const { id } = (await service.submit({ targets: targets('a'), webhook: { url } })).body
    await hook.next().then((attempt) => attempt.answer(503))
    await webhookAfter(service, id, 1)
    const [told, ...more] = lines.filter((line) => line.includes('webhook attempted'))
    expect(JSON.parse(told ?? '')).toMatchObject({ jobId: id, attempts: 1, state: 'pending', durationMs: 0 })
    expect(more).toEqual([])
    expect(lines.join('')).not.toMatch(/token|hooks\.example/)
  })

  it('is a signed POST with JSON', async () => {
    await using sink = await serveSink(answering(200))
    await using running = await serviceWithNetwork()
    const { id, webhook } = await attempted(running.service, sink.url)
    expect(webhook).toEqual({ url: sink.url, state: 'delivered', attempts: 1 })
    const { method, path, headers, body } = await sink.at(0)
    expect({ method, path }).toEqual({ method: 'POST', path: '/hook?token=abc' })
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'pagehaul-test/0' })
    expect(opened({ headers: headers as Record<string, string>, body }).data).toMatchObject({ id, status: 'done' })
  })

  it('comes again after a failure', async () => {
    await using sink = await serveSink(answering(500), (response) => response.socket?.resetAndDestroy(), answering(204))
    await using running = await serviceWithNetwork()
    const { service } = running
    const { id, webhook } = await attempted(service, sink.url)
    expect(webhook).toMatchObject({ state: 'pending', last_error: 'http_500: The server answered 500.' })
    service.clock.advance(WEBHOOK_RETRIES_MS[0])
    expect((await webhookAfter(service, id, 2)).last_error).toMatch(/^connection_closed: /)
    service.clock.advance(WEBHOOK_RETRIES_MS[1])
    expect(await webhookAfter(service, id, 3)).toEqual({ url: sink.url, state: 'delivered', attempts: 3 })
    expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(sink.received.map(({ body }) => body)).size).toBe(1)
  })

  it('does not follow a redirect', async () => {
    await using elsewhere = await serveSink(answering(200))
    await using sink = await serveSink(answering(307, { location: elsewhere.url }))
    await using running = await serviceWithNetwork()
    const { webhook } = await attempted(running.service, sink.url)
    expect(webhook).toMatchObject({ state: 'pending', last_error: 'http_307: The server answered 307.' })
    expect(elsewhere.received).toEqual([])
  })

  it.each([
    ['endless', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
    ['larger than any bound', `HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n${'x'.repeat(100_000)}`],
    ['damaged', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd'],
  ])('has arrived whatever is the body of the answer: %s', async (_what, answer) => {
    await using sink = await rawAnswers(() => answer)
    await using running = await serviceWithNetwork()
    expect((await attempted(running.service, `${sink.origin}/`)).webhook).toMatchObject({ state: 'delivered' })
  })

  it('lets go of an answer that does not end', async () => {
    await using sink = await rawAnswers(() => 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n')
    await using running = await serviceWithNetwork()
    await attempted(running.service, `${sink.origin}/`)
    expect(sink.connections).toBe(1)
    await sink.idle() // Nothing else closes the connection.
  })

  it.each([
    ['http://127.0.0.1:PORT/', 'blocked_address: The host is a loopback address.'],
    ['http://10.0.0.1/', 'blocked_address: The host is a private address.'],
    ['http://[::ffff:10.0.0.1]/', 'blocked_address: The host is an IPv4-mapped address.'],
    ['http://169.254.169.254/latest/', 'blocked_address: The host is a metadata address of a cloud platform.'],
    ['http://inside.example:PORT/', 'blocked_address: The host leads to a loopback address.'],
    ['http://hooks.example:22/', 'blocked_port: Port 22 is not fetched from.'],
  ])('does not go to %s, and never will', async (template, lastError) => {
    await using inside = await rawAnswers(() => 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', { host: '127.0.0.1' })
    await using running = await serviceWithNetwork({ 'inside.example': ['127.0.0.1'], 'hooks.example': ['127.0.0.2'] })
    const url = template.replace('PORT', String(inside.port))
    const { webhook } = await attempted(running.service, url)
    expect(webhook).toEqual({ url, state: 'failed', attempts: 1, last_error: lastError })
    expect(inside.connections).toBe(0)
  })

  it('is tried again while its name does not resolve', async () => {
    await using running = await serviceWithNetwork()
    const { webhook } = await attempted(running.service, 'https://nowhere.example/')
    expect(webhook).toMatchObject({ state: 'pending', last_error: expect.stringMatching(/^dns_not_found: /) })
  })
})
