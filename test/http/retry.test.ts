import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

type Service = Awaited<ReturnType<typeof buildService>>

const retry = async (service: Service, id: string, caller = 'alice') => {
  const headers = { 'x-caller-id': caller }
  const answer = await service.app.inject({ method: 'POST', url: `/jobs/${id}/retry`, headers })
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
}

const TARGETS = [
  { url: 'https://a.example/', custom_id: 'a' },
  { url: 'https://bad.example/1', custom_id: 'b', options: { mode: 'raw' as const } },
  { url: 'https://c.example/' },
  { url: 'https://bad.example/2', options: { grep: 'x', pages: '1-3' } },
  { url: 'https://bad.example/1', custom_id: 'e' },
]

/** A finished job of which the second, the fourth and the fifth target failed. */
async function withPartial(service: Service) {
  const { body } = await service.submit({ targets: TARGETS, options: { recover: true } })
  for (const { url } of TARGETS) {
    const call = await service.fetch.next()
    if (url.includes('bad')) call.fail('http_503')
    else call.succeed(url)
  }
  await service.runner.idle()
  return body.id
}

describe('POST /jobs/{id}/retry', () => {
  it('fetches what failed again, in order, with the same ids and options, and names the job it is of', async () => {
    await using service = await buildService()
    const id = await withPartial(service)
    const before = (await service.get(id)).body
    const { status, headers, body } = await retry(service, id)
    expect(status).toBe(202)
    expect(headers).toMatchObject({ location: `/jobs/${body.id}`, 'retry-after': '1' })
    expect(body).toMatchObject({ status: 'running', reused: false, retry_of: id, targets_total: 3, targets_done: 0 })
    expect(body.targets).toEqual([
      { idx: 0, custom_id: 'b', url: 'https://bad.example/1', status: 'pending' },
      { idx: 1, url: 'https://bad.example/2', status: 'pending' },
      { idx: 2, custom_id: 'e', url: 'https://bad.example/1', status: 'pending' },
    ])
    for (const options of [
      { mode: 'raw', recover: true },
      { grep: 'x', pages: '1-3', recover: true },
      { recover: true },
    ]) {
      const call = await service.fetch.next()
      expect(call.options).toEqual(options)
      call.succeed('now')
    }
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'done', retry_of: id })
    expect((await service.list()).body.jobs).toMatchObject([{ id: body.id, retry_of: id }, { id }])
    expect((await service.get(id)).body).toEqual(before)
  })

  it('fetches what never ran, too, after a cancel and after a restart', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c', 'd'])
    await service.fetch.next().then((call) => call.succeed('A'))
    const inFlight = await service.fetch.next()
    await service.cancel(body.id)
    inFlight.fail('timeout')
    await service.runner.idle()
    expect((await retry(service, body.id)).body.targets).toMatchObject(
      ['b', 'c', 'd'].map((name) => ({ url: `https://${name}.example/` })),
    )
  })

  it('makes the same job again while its results are kept, live or ended, and a fresh one later', async () => {
    await using service = await buildService({ leaseMs: 60_000 })
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await service.fetch.next().then((call) => call.fail('timeout'))
    await service.runner.idle()
    const first = await retry(service, body.id)
    expect(await retry(service, body.id)).toMatchObject({ status: 202, body: { id: first.body.id, reused: true } })
    expect(service.clock.now()).toBe(Date.parse(body.created_at))
    service.clock.advance(30_000)
    await service.fetch.next().then((call) => call.fail('timeout'))
    await service.runner.idle()
    expect(await retry(service, body.id)).toMatchObject({
      status: 200,
      body: { id: first.body.id, reused: true, status: 'failed' },
    })
    service.clock.advance(30_000) // The lease of the first job is over, that of its retry is not.
    expect((await retry(service, body.id)).body.code).toBe('job_not_found')
    expect((await service.get(first.body.id)).status).toBe(200)
  })

  it('is another job than its targets sent again', async () => {
    await using service = await buildService({ jobsPerCallerMax: 9 })
    const { body } = await service.submit(['a'])
    await service.fetch.next().then((call) => call.fail('timeout'))
    await service.runner.idle()
    const retried = await retry(service, body.id)
    expect(retried.body.id).not.toBe(body.id)
    expect((await service.submit(['a'])).body).toMatchObject({ id: body.id, reused: true })
  })

  it('makes one job of 20 retries at once', async () => {
    await using service = await buildService()
    const id = await withPartial(service)
    const answers = await Promise.all(Array.from({ length: 20 }, () => retry(service, id)))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.filter(({ body }) => !body.reused)).toHaveLength(1)
  })

  it('can be retried in its turn, for what failed again', async () => {
    await using service = await buildService()
    const id = await withPartial(service)
    const second = (await retry(service, id)).body
    await service.fetch.next().then((call) => call.succeed('now'))
    for (let left = 2; left > 0; left--) await service.fetch.next().then((call) => call.fail('http_503'))
    await service.runner.idle()
    const third = (await retry(service, second.id)).body
    expect(third).toMatchObject({ retry_of: second.id, targets: [{ url: TARGETS[3]?.url }, { custom_id: 'e' }] })
    service.fetch.answer((call) => call.succeed('at last'))
    await service.runner.idle()
    expect((await retry(service, third.id)).body).toMatchObject({ status: 409, code: 'nothing_to_retry' })
  })

  it('waits like a submission if that is preferred', async () => {
    await using service = await buildService()
    const id = await withPartial(service)
    service.fetch.answer((call) => call.succeed('now'))
    const headers = { 'x-caller-id': 'alice', prefer: 'wait=10' }
    const answer = await service.app.inject({ method: 'POST', url: `/jobs/${id}/retry`, headers })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['preference-applied']).toBe('wait=10')
    expect(answer.json()).toMatchObject({ status: 'done', targets_done: 3 })
  })

  it('is refused while the job is live, and while the last target of a cancelled one is in flight', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    const inFlight = await service.fetch.next()
    expect((await retry(service, body.id)).body).toMatchObject({ status: 409, code: 'job_not_finished' })
    await service.cancel(body.id)
    expect((await retry(service, body.id)).body).toMatchObject({ status: 409, code: 'job_not_finished' })
    inFlight.succeed('A')
    await service.runner.idle()
    expect((await retry(service, body.id)).body.targets).toMatchObject([{ url: 'https://b.example/' }])
  })

  it('is taken at once by a client that has just been told that the job ended', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const call = await service.fetch.next()
    const headers = { 'x-caller-id': 'alice', prefer: 'wait=10' }
    const ended = service.app.inject({ url: `/jobs/${body.id}`, headers })
    call.fail('timeout')
    expect((await ended).json()).toMatchObject({ status: 'failed' })
    expect((await retry(service, body.id)).status).toBe(202)
  })

  it('counts against the caps, in words of its own caller only', async () => {
    await using service = await buildService({ jobsTotalMax: 2 })
    const id = await withPartial(service)
    const live = (await service.submit(['x'])).body.id
    expect((await retry(service, id)).body).toMatchObject({ status: 429, code: 'caller_busy', jobs: [live] })
    await service.cancel(live)
    await service.submit(['x'], 'bob')
    await service.submit(['x'], 'carol')
    const busy = await retry(service, id)
    expect(busy.body).toMatchObject({ status: 429, code: 'jobs_busy', jobs: [] })
    expect(busy.headers['retry-after']).toBe(String(busy.body.retry_after_s))
  })

  it('is refused for the job of another caller and for an unknown one, in the same words', async () => {
    await using service = await buildService()
    const id = await withPartial(service)
    const foreign = await retry(service, id, 'mallory')
    expect(foreign.body).toMatchObject({ status: 404, code: 'job_not_found' })
    const unknown = await retry(service, 'nope', 'mallory')
    expect(unknown.body).toEqual({ ...foreign.body, request_id: unknown.body.request_id })
    expect((await service.list('', 'mallory')).body.jobs).toEqual([])
  })

  it('is refused when the service stops', async () => {
    await using service = await buildService()
    const id = await withPartial(service)
    service.jobs.stop()
    expect((await retry(service, id)).body).toMatchObject({ status: 503, code: 'shutting_down' })
  })
})
