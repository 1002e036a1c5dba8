import { describe, expect, it } from 'vitest'

import { buildService, numbered } from '../helpers/service.ts'

type Service = Awaited<ReturnType<typeof buildService>>

/** Submits a job that is refused; checks that header and body tell the same wait. */
async function refused(service: Service, caller = 'alice') {
  const { headers, body } = await service.submit(['refused'], caller)
  const problem = body as unknown as { retry_after_s: number; jobs: string[]; cap: string; limit: number; code: string }
  expect(headers['retry-after']).toBe(String(problem.retry_after_s))
  expect(problem.retry_after_s).toBeGreaterThanOrEqual(1)
  return problem
}

/** Ends the target in flight after `ms` milliseconds, and waits for the next to start. */
async function step(service: Service, ms: number) {
  const call = await service.fetch.next()
  service.clock.advance(ms)
  call.succeed('text')
  await service.fetch.peek()
}

describe('429', () => {
  it('of a caller with too many live jobs names the cap, the limit and those jobs', async () => {
    await using service = await buildService({ jobsPerCallerMax: 2 })
    const jobs = [(await service.submit(['a'])).body.id, (await service.submit(['b'])).body.id]
    await service.submit(['c'], 'bob')
    const problem = await refused(service)
    expect(problem).toMatchObject({ code: 'caller_busy', cap: 'jobs_per_caller', limit: 2 })
    expect(problem.jobs.toSorted()).toEqual(jobs.toSorted())
  })

  it('of a busy service names the live jobs of the caller, and never those of another', async () => {
    await using service = await buildService({ jobsPerCallerMax: 3 })
    const own = (await service.submit(['a'])).body.id
    for (const caller of numbered(7)) await service.submit(['b'], caller)
    expect(await refused(service)).toMatchObject({ code: 'jobs_busy', cap: 'jobs_total', limit: 8, jobs: [own] })
    expect(await refused(service, 'stranger')).toMatchObject({ code: 'jobs_busy', jobs: [] })
  })

  it('of too many targets, a 422, names its cap and limit too', async () => {
    await using service = await buildService({ targetsPerJobMax: 3 })
    expect((await service.submit(numbered(4))).body).toMatchObject({
      status: 422,
      code: 'too_many_targets',
      cap: 'targets_per_job',
      limit: 3,
    })
  })

  it('stands behind reuse: the same submission is never refused for a cap', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    await refused(service)
    expect(await service.submit(['a'])).toMatchObject({ status: 202, body: { id: body.id, reused: true } })
  })
})

describe('the wait that a 429 tells', () => {
  it('grows with the targets that are left', async () => {
    const waits: number[] = []
    for (const count of [1, 4, 16, 32]) {
      await using service = await buildService()
      await service.submit(numbered(count))
      waits.push((await refused(service)).retry_after_s)
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    expect(new Set(waits).size).toBe(4)
  })

  it('shrinks as targets are done', async () => {
    await using service = await buildService()
    await service.submit(numbered(6))
    const waits: number[] = []
    for (let done = 0; done < 5; done++) {
      waits.push((await refused(service)).retry_after_s)
      await step(service, 2_000)
    }
    expect(waits).toEqual(waits.toSorted((a, b) => b - a))
    expect(waits.at(-1)).toBeLessThan(waits[0] ?? 0)
  })

  it.each([500, 4_000, 20_000])('follows the pace of the job: %i ms a target', async (ms) => {
    await using service = await buildService()
    await service.submit(numbered(21))
    for (let done = 0; done < 10; done++) await step(service, ms)
    const expected = (11 * ms) / 1_000
    const { retry_after_s: told } = await refused(service)
    expect(told).toBeGreaterThanOrEqual(Math.floor(expected * 0.8))
    expect(told).toBeLessThanOrEqual(Math.ceil(expected * 1.2))
  })

  it('grows while the first target takes long', async () => {
    await using service = await buildService()
    await service.submit(numbered(3))
    const { retry_after_s: atFirst } = await refused(service)
    service.clock.advance(30_000)
    expect((await refused(service)).retry_after_s).toBeGreaterThan(atFirst)
  })

  it('is that of the job which ends first, of all if the service is busy', async () => {
    await using service = await buildService({ jobsTotalMax: 2 })
    await service.submit(numbered(32), 'bob')
    await service.submit(['a'], 'carol')
    const ofAll = await refused(service)
    const ofBob = await refused(service, 'bob')
    expect(ofAll).toMatchObject({ code: 'jobs_busy' })
    expect(ofBob).toMatchObject({ code: 'caller_busy' })
    expect(ofAll.retry_after_s).toBeLessThan(ofBob.retry_after_s)
  })

  it('is never more than an hour', async () => {
    await using service = await buildService()
    await service.submit(numbered(32))
    service.clock.advance(0)
    for (let done = 0; done < 2; done++) await step(service, 59_999_000)
    expect((await refused(service)).retry_after_s).toBe(3_600)
  })

  it('is true: after it a job of even pace has ended', async () => {
    await using service = await buildService()
    await service.submit(numbered(8))
    for (let done = 0; done < 4; done++) await step(service, 3_000)
    const { retry_after_s: told } = await refused(service)
    const startedAt = service.clock.now()
    for (let left = 3; left > 0; left--) await step(service, 3_000)
    const last = await service.fetch.next()
    service.clock.advance(3_000)
    last.succeed('text')
    await service.runner.idle()
    expect((service.clock.now() - startedAt) / 1_000).toBe(told)
    expect((await service.submit(['next'])).status).toBe(202)
  })
})
