import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

describe('rule 6: cancel', () => {
  it('ends the job at once; the target in flight is stored, later ones stay pending', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c'])
    await service.fetch.next().then((call) => call.succeed('A'))
    const inFlight = await service.fetch.next()

    const cancelled = await service.cancel(body.id)
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', targets_done: 1 } })
    expect(cancelled.body.finished_at).toBeDefined()
    expect(inFlight.signal.aborted).toBe(false)

    inFlight.succeed('B')
    await service.runner.idle()
    expect(service.fetch.waiting).toBe(0)
    expect((await service.get(body.id)).body).toMatchObject({
      status: 'cancelled',
      targets_done: 2,
      finished_at: cancelled.body.finished_at,
      targets: [{ result: { content: 'A' } }, { result: { content: 'B' } }, { status: 'pending' }],
    })
  })

  it('answers a second cancel with the same job', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const first = await service.cancel(body.id)
    service.clock.advance(1_000)
    const second = await service.cancel(body.id)
    expect(second).toMatchObject({ status: 200, body: { status: 'cancelled', finished_at: first.body.finished_at } })
  })

  it('frees the slot of the caller at once', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    await service.cancel(body.id)
    expect((await service.submit(['b'])).status).toBe(202)
  })

  it('is refused for a finished job, which keeps its status and results', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => call.succeed('A'))
    const { body } = await service.submit(['a'])
    await service.runner.idle()
    expect((await service.cancel(body.id)).body).toMatchObject({ status: 409, code: 'job_finished' })
    expect((await service.get(body.id)).body).toMatchObject({ status: 'done', targets: [{ result: { content: 'A' } }] })
  })

  it('is refused for an unknown job and for that of another caller, in the same words', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const foreign = await service.cancel(body.id, 'mallory')
    const unknown = await service.cancel('0193d5a0-0000-7000-8000-000000000000', 'mallory')
    const malformed = await service.cancel('%F0%9F%90%8C', 'mallory')
    expect(foreign).toMatchObject({ status: 404, body: { code: 'job_not_found' } })
    expect(unknown.body).toEqual(foreign.body)
    expect(malformed.body).toEqual(foreign.body)
    expect((await service.get(body.id)).body.status).toBe('running')
  })

  it('keeps stored targets readable until the lease ends', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'))
    const inFlight = await service.fetch.next()
    await service.cancel(body.id)
    inFlight.fail('timeout')
    await service.runner.idle()
    service.clock.advance(service.limits.leaseMs - 1)
    expect((await service.get(body.id)).body.targets).toMatchObject([
      { result: { content: 'A' } },
      { error: 'timeout' },
    ])
  })
})
