import { describe, expect, it } from 'vitest'

import { buildService, numbered } from '../helpers/service.ts'

describe('rule 2: caps second', () => {
  it('takes 32 targets and refuses 33', async () => {
    await using service = await buildService()
    expect((await service.submit(numbered(33))).body).toMatchObject({
      status: 422,
      code: 'too_many_targets',
      limit: 32,
    })
    expect(await service.submit(numbered(32))).toMatchObject({ status: 202, body: { targets_total: 32 } })
  })

  it('takes one live job of a caller and refuses the second, naming the first', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const refused = await service.submit(['b'])
    expect(refused.body).toMatchObject({ status: 429, code: 'caller_busy', limit: 1, jobs: [body.id] })
    expect(refused.headers['retry-after']).toMatch(/^\d+$/)
  })

  it('takes 8 live jobs in all and refuses the ninth', async () => {
    await using service = await buildService()
    for (const caller of numbered(8)) expect((await service.submit(['a'], caller)).status).toBe(202)
    const refused = await service.submit(['a'], 'ninth')
    expect(refused.body).toMatchObject({ status: 429, code: 'jobs_busy', limit: 8 })
    expect(refused.headers['retry-after']).toMatch(/^\d+$/)
  })

  it('checks the caps of the caller before those of all, and the number of targets before both', async () => {
    await using service = await buildService()
    for (const caller of numbered(8)) await service.submit(['a'], caller)
    expect((await service.submit(['b'], 't0')).body.code).toBe('caller_busy')
    expect((await service.submit(numbered(33), 't0')).body.code).toBe('too_many_targets')
  })

  it('lets exactly 8 of 60 simultaneous submissions of different callers pass', async () => {
    await using service = await buildService()
    const answers = await Promise.all(numbered(60).map((caller) => service.submit(['a'], caller)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(8)
    expect(answers.filter(({ body }) => body.code === 'jobs_busy')).toHaveLength(52)
  })

  it('lets exactly one of 60 simultaneous submissions of one caller pass', async () => {
    await using service = await buildService()
    const answers = await Promise.all(numbered(60).map((name) => service.submit([name])))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'caller_busy')).toHaveLength(59)
  })

  it('counts a live job whose lease has ended, and finds it', async () => {
    await using service = await buildService({ leaseMs: 1_000 })
    const { body } = await service.submit(['a'])
    service.clock.advance(2_000)
    expect((await service.submit(['b'])).body.code).toBe('caller_busy')
    expect((await service.get(body.id)).status).toBe(200)
  })

  it('frees the slot when a job ends', async () => {
    await using service = await buildService()
    await service.submit(['a'])
    const call = await service.fetch.next()
    call.succeed('A')
    await service.runner.idle()
    expect((await service.submit(['b'])).status).toBe(202)
  })
})
