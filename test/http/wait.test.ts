import { describe, expect, it } from 'vitest'

import { openRequest, until } from '../helpers/open-request.ts'
import { buildService } from '../helpers/service.ts'

const alice = { 'x-caller-id': 'alice' }

/** A service with a job whose only target is in flight. */
async function withRunningJob() {
  const service = await buildService()
  const { body } = await service.submit(['a'])
  const call = await service.fetch.next()
  const url = `/jobs/${body.id}`
  return {
    service,
    id: body.id,
    url,
    call,
    read: (prefer?: string) => service.app.inject({ url, headers: { ...alice, ...(prefer && { prefer }) } }),
    waiters: () => service.changes.waiters(body.id),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** Gives the caller a job, which that many of its requests wait for; `wait` sends one more. */
async function withWaits(service: Awaited<ReturnType<typeof buildService>>, caller: string, count: number) {
  const { id } = (await service.submit([caller], caller)).body
  const wait = () => service.app.inject({ url: `/jobs/${id}`, headers: { 'x-caller-id': caller, prefer: 'wait=50' } })
  const waits = Array.from({ length: count }, wait)
  await until(() => service.changes.waiters(id) === count)
  return { id, wait, waits }
}

const WAITS = [
  { prefer: 'wait=10', applied: 10 },
  { prefer: 'wait=50', applied: 50 },
  { prefer: 'wait=51', applied: 50 },
  { prefer: `wait=${'9'.repeat(4_000)}`, applied: 50 },
  { prefer: 'wait="7"', applied: 7 },
  { prefer: 'WAIT = 7', applied: 7 },
  { prefer: 'wait=7; foo="a, b"', applied: 7 },
  { prefer: 'respond-async, wait=7', applied: 7 },
  { prefer: 'wait=7, handling=lenient', applied: 7 },
  { prefer: 'foo="wait=9, wait=9, x", wait=7', applied: 7 },
  { prefer: 'wait=7, wait=9', applied: 7 },
  { prefer: 'wait=x, wait=9', applied: 9 },
]
const NO_WAITS = [
  '',
  'wait',
  'wait=',
  'wait=0',
  'wait=0, wait=9',
  'wait=-1',
  'wait=1.5',
  'wait=1e1',
  'wait=soon',
  'wait=0x10',
  'wait=5 6',
  'waiting=5',
  'xwait=5',
  'foo="a, wait=9, b"',
  'foo; wait=9',
  '"'.repeat(8_000),
  ','.repeat(8_000),
  '\\"'.repeat(4_000),
]

describe('Prefer: wait on GET', () => {
  it('grants what is asked for, at most 50 s, and answers at once when the job ends', async () => {
    await using service = await buildService()
    for (const { prefer, applied } of WAITS) {
      const { body } = await service.submit({ targets: [{ url: 'https://a.example/' }], reuse: false })
      const call = await service.fetch.next()
      const answer = service.app.inject({ url: `/jobs/${body.id}`, headers: { ...alice, prefer } })
      await until(() => service.changes.waiters(body.id) === 1)
      call.succeed('A')
      expect((await answer).headers['preference-applied'], prefer).toBe(`wait=${applied}`)
      expect((await answer).json()).toMatchObject({ status: 'done', targets: [{ result: { content: 'A' } }] })
      await service.runner.idle()
    }
  })

  it('answers at once for what is no wait, and does not claim to have waited', async () => {
    await using running = await withRunningJob()
    for (const prefer of NO_WAITS) {
      const answer = await running.read(prefer)
      expect(answer.json(), prefer).toMatchObject({ status: 'running' })
      expect(answer.headers, prefer).not.toHaveProperty('preference-applied')
      expect(answer.headers['retry-after']).toBe('1')
    }
  })

  it('takes the first of several header lines that asks for it', async () => {
    await using running = await withRunningJob()
    const origin = await running.service.app.listen({ host: '127.0.0.1', port: 0 })
    const headers = { prefer: ['respond-async', 'wait=7', 'wait=9'] as unknown as string }
    const answer = openRequest(origin + running.url, { headers })
    await until(() => running.waiters() === 1)
    running.call.succeed('A')
    expect((await answer).headers['preference-applied']).toBe('wait=7')
  })

  it('answers with the job as it is when the time is over, and not before', async () => {
    await using running = await withRunningJob()
    let answered = false
    const answer = running.read('wait=10').finally(() => {
      answered = true
    })
    await until(() => running.waiters() === 1)
    running.service.clock.advance(9_999)
    await running.service.get(running.id)
    expect(answered).toBe(false)
    running.service.clock.advance(1)
    expect((await answer).statusCode).toBe(200)
    expect((await answer).json()).toMatchObject({ status: 'running' })
  })

  it('sleeps through outcomes that do not end the job', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    const answer = service.app.inject({ url: `/jobs/${body.id}`, headers: { ...alice, prefer: 'wait=10' } })
    await until(() => service.changes.waiters(body.id) === 1)
    await service.fetch.next().then((call) => call.succeed('A'))
    await service.fetch.next().then((call) => call.fail('timeout'))
    expect((await answer).json()).toMatchObject({ status: 'partial', targets_done: 2 })
  })

  it('answers at once when the job is cancelled, whose last target may still be in flight', async () => {
    await using running = await withRunningJob()
    const answer = running.read('wait=10')
    await until(() => running.waiters() === 1)
    await running.service.cancel(running.id)
    expect((await answer).json()).toMatchObject({ status: 'cancelled', targets_done: 0 })
  })

  it('answers with the job as it is when the service stops', async () => {
    await using running = await withRunningJob()
    const answer = running.read('wait=50')
    await until(() => running.waiters() === 1)
    running.service.jobs.stop()
    expect((await answer).json()).toMatchObject({ status: 'running' })
    expect((await running.read('wait=50')).json()).toMatchObject({ status: 'running' })
  })

  it('answers 404 at once for an unknown job, and does not claim to have waited', async () => {
    await using running = await withRunningJob()
    const answer = await running.service.app.inject({ url: '/jobs/nope', headers: { ...alice, prefer: 'wait=50' } })
    expect(answer.statusCode).toBe(404)
    expect(answer.headers).not.toHaveProperty('preference-applied')
  })

  it('lets 8 requests of a caller wait and answers the ninth at once, until one has left', async () => {
    await using service = await buildService()
    const { id, wait, waits } = await withWaits(service, 'alice', 8)
    const refused = await wait()
    expect(refused.json()).toMatchObject({ status: 'running' })
    expect(refused.headers).not.toHaveProperty('preference-applied')

    service.clock.advance(50_000)
    await Promise.all(waits)
    const granted = wait()
    await until(() => service.changes.waiters(id) === 1)
    await service.fetch.next().then((call) => call.succeed('A'))
    expect((await granted).headers['preference-applied']).toBe('wait=50')
  })

  it('lets others wait, however many waits a caller asks for', async () => {
    await using service = await buildService()
    const { id, wait, waits } = await withWaits(service, 'alice', 8)
    const refused = await Promise.all(Array.from({ length: 100 }, wait))
    expect(refused.filter(({ headers }) => headers['preference-applied'] !== undefined)).toEqual([])
    expect(service.changes.waiters(id)).toBe(8)
    const other = await withWaits(service, 'bob', 8)
    service.clock.advance(50_000)
    for (const { headers } of await Promise.all([...waits, ...other.waits]))
      expect(headers['preference-applied']).toBe('wait=50')
  })

  it('lets 64 requests of all callers wait, and answers the next at once', async () => {
    await using service = await buildService({ jobsTotalMax: 9 })
    const waits = []
    for (let caller = 0; caller < 8; caller++) waits.push(...(await withWaits(service, `c${caller}`, 8)).waits)
    const { wait } = await withWaits(service, 'late', 0)
    expect((await wait()).headers).not.toHaveProperty('preference-applied')
    service.clock.advance(50_000)
    for (const { headers } of await Promise.all(waits)) expect(headers['preference-applied']).toBe('wait=50')
  })

  it.each(['the job ends', 'the time is over', 'the client goes away'])(
    'leaves neither a waiter nor a timer behind when %s',
    async (how) => {
      await using running = await withRunningJob()
      const { service, call } = running
      const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
      const timers = service.clock.waiting
      const leaving = new AbortController()
      const options = { headers: { ...alice, prefer: 'wait=10' }, signal: leaving.signal }
      const answer = fetch(origin + running.url, options).catch(() => 'gone')
      await until(() => running.waiters() === 1)
      expect(service.clock.waiting).toBe(timers + 1)

      if (how === 'the job ends') call.succeed('A')
      else if (how === 'the time is over') service.clock.advance(10_000)
      else leaving.abort()
      await answer
      await until(() => running.waiters() === 0)
      // The timer of the target in flight stays while that is.
      await until(() => service.clock.waiting === (how === 'the job ends' ? timers - 1 : timers))
      expect((await service.get(running.id)).status).toBe(200)
    },
  )
})

describe('Prefer: wait on POST', () => {
  const post = { method: 'POST' as const, url: '/jobs', payload: { targets: [{ url: 'https://a.example/' }] } }
  const headers = { ...alice, prefer: 'wait=10' }

  it('answers 200 with the results once the job has ended', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => call.succeed('A'))
    const answer = await service.app.inject({ ...post, headers })
    const job = answer.json()
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({ 'preference-applied': 'wait=10', location: `/jobs/${job.id}` })
    expect(answer.headers).not.toHaveProperty('retry-after')
    expect(job).toMatchObject({ status: 'done', reused: false, targets: [{ result: { content: 'A' } }] })
  })

  it('answers 202 with the job as it is when the time is over, and the same submission waits on', async () => {
    await using service = await buildService()
    const first = service.app.inject({ ...post, headers })
    const call = await service.fetch.next()
    const { id } = (await service.list()).body.jobs[0] ?? { id: '' }
    await until(() => service.changes.waiters(id) === 1)
    service.clock.advance(10_000)
    expect((await first).statusCode).toBe(202)
    expect((await first).headers).toMatchObject({ 'preference-applied': 'wait=10', 'retry-after': '1' })
    expect((await first).json()).toMatchObject({ id, status: 'running' })

    const second = service.app.inject({ ...post, headers })
    await until(() => service.changes.waiters(id) === 1)
    call.succeed('A')
    expect((await second).statusCode).toBe(200)
    expect((await second).json()).toMatchObject({ id, reused: true, status: 'done' })
  })

  it('starts the job and answers 202 at once while too many wait', async () => {
    await using service = await buildService({ jobsPerCallerMax: 2 })
    const { waits } = await withWaits(service, 'alice', 8)
    const answer = await service.app.inject({ ...post, headers })
    expect(answer.statusCode).toBe(202)
    expect(answer.headers).not.toHaveProperty('preference-applied')
    service.clock.advance(50_000)
    await Promise.all(waits)
  })

  it('keeps the job when the client goes away while it waits', async () => {
    await using service = await buildService()
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const leaving = new AbortController()
    const sent = fetch(`${origin}/jobs`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(post.payload),
      signal: leaving.signal,
    }).catch(() => 'gone')
    const call = await service.fetch.next()
    const { id } = (await service.list()).body.jobs[0] ?? { id: '' }
    await until(() => service.changes.waiters(id) === 1)
    leaving.abort()
    expect(await sent).toBe('gone')
    await until(() => service.changes.waiters(id) === 0)
    call.succeed('A')
    await service.runner.idle()
    expect((await service.get(id)).body.status).toBe('done')
  })
})
