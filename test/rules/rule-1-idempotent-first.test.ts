import { request } from 'node:http'

import { describe, expect, it } from 'vitest'

import { buildService, targets } from '../helpers/service.ts'

const twice = { targets: targets('a', 'b') }

describe('rule 1: idempotent first', () => {
  it('gives the same job while it runs, and checks no cap', async () => {
    await using service = await buildService()
    const first = await service.submit(twice)
    const again = await service.submit(twice)
    expect(first).toMatchObject({ status: 202, body: { reused: false } })
    expect(again).toMatchObject({ status: 202, body: { id: first.body.id, reused: true } })
    expect(again.headers.location).toBe(`/jobs/${first.body.id}`)
    expect((await service.submit(['c'])).body.code).toBe('caller_busy')
  })

  it.each([
    { ended: 'done', finish: ['ok', 'ok'] },
    { ended: 'partial', finish: ['ok', 'bad'] },
    { ended: 'failed', finish: ['bad', 'bad'] },
  ])('gives the same job, with 200, after it has ended as $ended', async ({ ended, finish }) => {
    await using service = await buildService()
    const first = await service.submit(twice)
    for (const how of finish) {
      const call = await service.fetch.next()
      if (how === 'ok') call.succeed('text')
      else call.fail('http_500')
    }
    await service.runner.idle()
    const again = await service.submit(twice)
    expect(again).toMatchObject({ status: 200, body: { id: first.body.id, status: ended, reused: true } })
  })

  it('gives the same job after it was cancelled', async () => {
    await using service = await buildService()
    const { body } = await service.submit(twice)
    await service.cancel(body.id)
    expect(await service.submit(twice)).toMatchObject({ status: 200, body: { id: body.id, status: 'cancelled' } })
  })

  it('makes a fresh job once the lease has ended', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => call.succeed('text'))
    const { body } = await service.submit(twice)
    await service.runner.idle()
    service.clock.advance(service.limits.leaseMs - 1)
    expect((await service.submit(twice)).body.id).toBe(body.id)
    service.clock.advance(1)
    const fresh = await service.submit(twice)
    expect(fresh).toMatchObject({ status: 202, body: { reused: false } })
    expect(fresh.body.id).not.toBe(body.id)
  })

  it('makes a fresh job for `reuse: false`, under the caps, and later gives that one', async () => {
    await using service = await buildService()
    const first = await service.submit(twice)
    expect((await service.submit({ ...twice, reuse: false })).body.code).toBe('caller_busy')
    service.fetch.answer((call) => call.succeed('text'))
    await service.runner.idle()
    const fresh = await service.submit({ ...twice, reuse: false })
    expect(fresh.status).toBe(202)
    expect(fresh.body.id).not.toBe(first.body.id)
    expect((await service.submit(twice)).body.id).toBe(fresh.body.id)
  })

  it.each<{ what: string; one: object; other: object; same: boolean }>([
    {
      what: 'the order of fields and white space',
      one: { url: 'https://a.example/', custom_id: 'x', options: { mode: 'full' } },
      other: { options: { mode: 'full' }, custom_id: 'x', url: ' https://a.example/ ' },
      same: true,
    },
    {
      what: 'explicit defaults',
      one: { url: 'https://a.example/' },
      other: { url: 'https://a.example/', options: { mode: 'auto' } },
      same: true,
    },
    {
      what: 'the spelling of the host',
      one: { url: 'http://дом.test/' },
      other: { url: 'http://xn--d1aqf.test/' },
      same: true,
    },
    {
      what: 'one option',
      one: { url: 'https://a.example/' },
      other: { url: 'https://a.example/', options: { mode: 'raw' } },
      same: false,
    },
    {
      what: 'the order of a query',
      one: { url: 'https://a.example/?a=2&b=1' },
      other: { url: 'https://a.example/?b=1&a=2' },
      same: false,
    },
    {
      what: 'the custom id',
      one: { url: 'https://a.example/', custom_id: 'x' },
      other: { url: 'https://a.example/', custom_id: 'y' },
      same: false,
    },
  ])('$what: same submission: $same', async ({ one, other, same }) => {
    await using service = await buildService({ jobsPerCallerMax: 2 })
    const first = await service.submit({ targets: [one] } as never)
    const second = await service.submit({ targets: [other] } as never)
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.body.id === first.body.id).toBe(same)
  })

  it('tells the order of the targets apart, and callers', async () => {
    await using service = await buildService({ jobsPerCallerMax: 2 })
    const { body } = await service.submit(['a', 'b'])
    expect((await service.submit(['b', 'a'])).body.id).not.toBe(body.id)
    expect((await service.submit(['a', 'b'], 'bob')).body.id).not.toBe(body.id)
  })

  it('merges the options of the job under those of each target before it compares', async () => {
    await using service = await buildService()
    const [a] = targets('a')
    const [b] = targets('b')
    if (!a || !b) throw new Error('two targets')
    const merged = await service.submit({ options: { mode: 'full' }, targets: [a, { ...b, options: { mode: 'raw' } }] })
    const spelt = await service.submit({
      targets: [
        { ...a, options: { mode: 'full' } },
        { ...b, options: { mode: 'raw' } },
      ],
    })
    expect(spelt.body.id).toBe(merged.body.id)
    expect((await service.fetch.next()).options).toEqual({ mode: 'full' })
  })

  it('makes one job of the same submission from 50 connections at once', async () => {
    await using service = await buildService()
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const answers = await Promise.all(Array.from({ length: 50 }, () => postOnOwnConnection(`${origin}/jobs`, twice)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ reused }) => !reused)).toHaveLength(1)
    expect((await service.fetch.next()).url).toBe('https://a.example/')
    expect(service.fetch.waiting).toBe(0)
  })
})

function postOnOwnConnection(url: string, body: object): Promise<{ status: number; id: string; reused: boolean }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-caller-id': 'alice' }
    const sent = request(url, { method: 'POST', agent: false, headers }, (response) => {
      response.toArray().then((chunks: Buffer[]) => {
        const answer = JSON.parse(Buffer.concat(chunks).toString()) as { id: string; reused: boolean }
        resolve({ ...answer, status: response.statusCode ?? 0 })
      }, reject)
    })
    sent.on('error', reject).end(JSON.stringify(body))
  })
}
