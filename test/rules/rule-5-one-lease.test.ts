import { pino } from 'pino'
import { describe, expect, it } from 'vitest'

import { startPurger } from '../../src/jobs/purger.ts'
import { buildService } from '../helpers/service.ts'

const DAY_MS = 86_400_000
const expiry = (at: number) => new Date(at).toISOString()

describe('rule 5: one lease', () => {
  it('moves the end of the job with each outcome, for all of its targets', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    expect(body.expires_at).toBe(expiry(service.clock.now() + DAY_MS))
    for (const content of ['A', 'B']) {
      const call = await service.fetch.next()
      service.clock.advance(30_000)
      call.succeed(content)
      if (content === 'A') await service.fetch.peek()
      else await service.runner.idle()
      expect((await service.get(body.id)).body.expires_at).toBe(expiry(service.clock.now() + DAY_MS))
    }
  })

  it('hides an expired job from every route and then purges it, with all of its targets', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => call.succeed('text'))
    const { body } = await service.submit(['a', 'b'])
    await service.runner.idle()

    service.clock.advance(DAY_MS - 1)
    expect((await service.get(body.id)).status).toBe(200)
    service.clock.advance(1)
    expect((await service.get(body.id)).body.code).toBe('job_not_found')
    expect((await service.cancel(body.id)).body.code).toBe('job_not_found')
    expect((await service.list()).body.jobs).toEqual([])
    expect((await service.app.inject(`/jobs/${body.id}/targets/0`)).statusCode).toBe(404)

    expect(await service.store.readOutcome(body.id, 0)).toBeDefined()
    expect(await service.store.purgeExpired(service.clock.now())).toBe(1)
    expect(await service.store.readOutcome(body.id, 0)).toBeUndefined()
    expect(await service.store.purgeExpired(service.clock.now())).toBe(0)
  })

  it('purges by itself, on the clock of the service, and spares what lives', async () => {
    await using service = await buildService({ jobsPerCallerMax: 2 })
    const purged: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const purger = startPurger({
      clock: service.clock,
      logger: pino({ level: 'silent' }),
      store: {
        async purgeExpired(at) {
          const count = await service.store.purgeExpired(at)
          purged.push(count)
          if (count > 0) resolve()
          return count
        },
      },
    })
    await service.submit(['a'])
    await service.fetch.next().then((call) => call.succeed('A'))
    await service.runner.idle()
    const live = await service.submit(['b'])
    service.clock.advance(DAY_MS)
    await promise
    expect(purged.at(-1)).toBe(1)
    expect((await service.get(live.body.id)).status).toBe(200)
    await purger.close()
  })
})
