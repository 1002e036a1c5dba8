import { request } from 'node:http'

import { describe, expect, it } from 'vitest'

import { buildService, numbered, targets } from '../helpers/service.ts'

const post = (payload: string, type?: string) => ({
  method: 'POST' as const,
  url: '/jobs',
  payload,
  headers: type === undefined ? {} : { 'content-type': type },
})

describe('POST /jobs', () => {
  it('answers 202 with the job, where to read it, and when', async () => {
    await using service = await buildService()
    const { status, headers, body } = await service.submit({
      targets: [{ url: 'https://a.example/', custom_id: 'p1' }],
    })
    expect(status).toBe(202)
    expect(headers).toMatchObject({ location: `/jobs/${body.id}`, 'retry-after': '1' })
    expect(headers['content-type']).toContain('application/json')
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      status: 'running',
      reused: false,
      targets_total: 1,
      targets_done: 0,
      targets_failed: 0,
      created_at: '2026-01-01T00:00:00.000Z',
      started_at: '2026-01-01T00:00:00.000Z',
      expires_at: '2026-01-02T00:00:00.000Z',
      worst_case_s: 60,
      targets: [{ idx: 0, custom_id: 'p1', url: 'https://a.example/', status: 'pending' }],
    })
  })

  it.each([
    {
      what: 'JSON that does not parse',
      sent: post('{"targets":', 'application/json'),
      status: 400,
      code: 'invalid_json',
    },
    { what: 'an empty body', sent: post('', 'application/json'), status: 400, code: 'invalid_json' },
    {
      what: 'no body and no type',
      sent: { method: 'POST' as const, url: '/jobs' },
      status: 415,
      code: 'unsupported_media_type',
    },
    {
      what: 'a form',
      sent: post('targets=1', 'application/x-www-form-urlencoded'),
      status: 415,
      code: 'unsupported_media_type',
    },
    { what: 'text', sent: post('https://a.example/', 'text/plain'), status: 415, code: 'unsupported_media_type' },
    {
      what: 'a body over 512 KiB',
      sent: post(`{"x":"${'x'.repeat(524_288)}"}`, 'application/json'),
      status: 413,
      code: 'body_too_large',
    },
  ])('refuses $what with $status', async ({ sent, status, code }) => {
    await using service = await buildService()
    const response = await service.app.inject(sent)
    expect(response.headers['content-type']).toContain('application/problem+json')
    expect(response.json()).toMatchObject({
      status,
      code,
      type: `/problems/${code}`,
      title: expect.any(String),
      detail: expect.any(String),
    })
    expect(response.statusCode).toBe(status)
  })

  it('refuses bytes that are not UTF-8, and takes a byte order mark', async () => {
    await using service = await buildService()
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    const latin1 = Buffer.from('{"targets":[{"url":"https://a.example/é"}]}', 'latin1')
    const marked = `\ufeff${JSON.stringify({ targets: targets('a') })}`
    expect((await service.app.inject({ method: 'POST', url: '/jobs', headers, payload: latin1 })).json()).toMatchObject(
      { code: 'invalid_json' },
    )
    expect((await service.app.inject({ method: 'POST', url: '/jobs', headers, payload: marked })).statusCode).toBe(202)
  })

  it('refuses a caller id that is not one', async () => {
    await using service = await buildService()
    expect((await service.submit(['a'], 'x'.repeat(129))).body).toMatchObject({
      status: 422,
      code: 'validation_failed',
    })
  })
})

describe('GET /jobs/{id}', () => {
  it('shows each outcome as it completes, with counts that add up', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c'])
    for (const [idx, name] of ['a', 'b', 'c'].entries()) {
      const job = (await service.get(body.id)).body
      expect(job.targets_done).toBe(idx)
      expect(job.targets.map(({ status }) => status)).toEqual(
        ['a', 'b', 'c'].map((_, i) => (i < idx ? 'done' : 'pending')),
      )
      await service.fetch.next().then((call) => call.succeed(`text of ${name}`))
      if (idx < 2) await service.fetch.peek()
    }
    await service.runner.idle()
    const { headers, body: job } = await service.get(body.id)
    expect(headers).not.toHaveProperty('retry-after')
    expect(job.targets.map(({ result }) => result?.content)).toEqual(['text of a', 'text of b', 'text of c'])
  })

  it('leaves the results out of the summary, and keeps the failures', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('x'.repeat(1_000_000)))
    await service.fetch.next().then((call) => call.fail('http_404'))
    await service.runner.idle()
    const response = await service.app.inject({
      url: `/jobs/${body.id}?view=summary`,
      headers: { 'x-caller-id': 'alice' },
    })
    expect(response.body.length).toBeLessThan(1_000)
    expect(response.json().targets).toEqual([
      { idx: 0, url: 'https://a.example/', status: 'done' },
      {
        idx: 1,
        url: 'https://b.example/',
        status: 'failed',
        error: 'http_404',
        message: 'It failed.',
        hint: 'A hint.',
      },
    ])
  })

  it('gives stored outcomes byte for byte', async () => {
    await using service = await buildService()
    const content = 'line\u2028 "quoted" \\ \u0000 𠮷 \ud83d\ude00 </script>'
    const { body } = await service.submit(['a'])
    await service.fetch.next().then((call) => call.succeed(content))
    await service.runner.idle()
    expect((await service.get(body.id)).body.targets[0]?.result?.content).toBe(content)
    const response = await service.app.inject({ url: `/jobs/${body.id}`, headers: { 'x-caller-id': 'alice' } })
    const stored = Buffer.from((await service.store.readOutcome(body.id, 0)) ?? []).toString()
    expect(response.body).toContain(stored.slice(1))
  })

  it('answers 404 in the same words for an unknown, a malformed and a foreign id', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const foreign = (await service.get(body.id, 'mallory')).body
    expect(foreign).toMatchObject({ status: 404, code: 'job_not_found' })
    for (const id of ['0193d5a0-0000-7000-8000-000000000000', 'nope', '..%2f', "x'--", 'x'.repeat(5_000)]) {
      expect((await service.get(id)).body).toEqual(foreign)
    }
  })

  it('answers HEAD like GET, without a body, also for large jobs', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    await service.fetch.next().then((call) => call.succeed('x'.repeat(3_000_000)))
    await service.runner.idle()
    const response = await service.app.inject({
      method: 'HEAD',
      url: `/jobs/${body.id}`,
      headers: { 'x-caller-id': 'alice' },
    })
    expect(response).toMatchObject({ statusCode: 200, body: '' })
  })

  it('cuts an answer off whose job expires while it is read, so that it cannot pass for whole', async () => {
    await using service = await buildService()
    const { body } = await service.submit(numbered(8))
    service.fetch.answer((call) => call.succeed('x'.repeat(3_000_000)))
    await service.runner.idle()
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const ended = await new Promise<string>((resolve) => {
      request(`${origin}/jobs/${body.id}`, { agent: false, headers: { 'x-caller-id': 'alice' } }, (response) => {
        response.once('data', () => {
          response.pause()
          service.store.purgeExpired(Number.MAX_SAFE_INTEGER).then(
            () => response.resume(),
            () => {},
          )
        })
        response.on('end', () => resolve('whole')).on('error', (error) => resolve(error.message))
      }).end()
    })
    expect(ended).toBe('aborted')
  })
})

describe('GET /jobs/{id}/targets/{idx}', () => {
  it('gives one target, pending, done or failed', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await service.fetch.next().then((call) => call.fail('timeout'))
    await service.fetch.peek()
    const read = async (idx: string) =>
      (await service.app.inject({ url: `/jobs/${body.id}/targets/${idx}`, headers: { 'x-caller-id': 'alice' } })).json()
    expect(await read('0')).toMatchObject({
      idx: 0,
      status: 'done',
      result: { content: 'A', meta: { http_status: 200 } },
    })
    expect(await read('1')).toMatchObject({ idx: 1, status: 'failed', error: 'timeout' })
    expect(await read('2')).toEqual({ idx: 2, url: 'https://c.example/', status: 'pending' })
    for (const idx of ['3', '-1', '1e0', '01x', '0.0', '99999999'])
      expect(await read(idx)).toMatchObject({ code: 'target_not_found' })
  })
})

describe('GET /jobs', () => {
  it('lists the jobs of the caller, newest first, without targets, in pages', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => call.succeed('text'))
    const ids: string[] = []
    for (const name of numbered(40)) {
      ids.unshift((await service.submit([name])).body.id)
      await service.submit([name], 'bob')
      await service.runner.idle()
    }
    const seen: string[] = []
    for (let query = ''; ;) {
      const { body } = await service.list(query)
      seen.push(...body.jobs.map(({ id }) => id))
      for (const job of body.jobs) expect(job).not.toHaveProperty('targets')
      if (body.next === undefined) break
      query = `?limit=15&after=${body.next}`
    }
    expect(seen).toEqual(ids)
  })
})

describe('DELETE /jobs/{id}', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/x-www-form-urlencoded',
    'text/plain',
    'garbage',
  ])('works with a content type of %s and no body', async (type) => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const response = await service.app.inject({
      method: 'DELETE',
      url: `/jobs/${body.id}`,
      headers: { 'x-caller-id': 'alice', 'content-type': type },
    })
    expect(response.json()).toMatchObject({ id: body.id, status: 'cancelled' })
    expect(response.statusCode).toBe(200)
  })
})

describe('anything else', () => {
  it.each(['/', '/nope', '/jobs/x/y', '/%E0%A4%A'])('answers 404 for %s', async (url) => {
    await using service = await buildService()
    const response = await service.app.inject(url)
    expect(response.json()).toMatchObject({ status: 404, code: 'not_found' })
    expect(response.headers['content-type']).toContain('application/problem+json')
  })

  it('answers a bug with a bare 500, and keeps its cause to itself', async () => {
    await using service = await buildService({
      wrapStore: (store) => ({ ...store, find: () => Promise.reject(new Error('secret of the database')) }),
    })
    const response = await service.app.inject('/jobs/x')
    expect(response.json()).toMatchObject({ status: 500, code: 'internal_error' })
    expect(response.body).not.toContain('secret')
  })
})
