import { setImmediate } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

describe('rule 7: terminal states', () => {
  it.each([
    { outcomes: ['ok', 'ok'], status: 'done', failed: 0 },
    { outcomes: ['ok', 'bad'], status: 'partial', failed: 1 },
    { outcomes: ['bad', 'ok'], status: 'partial', failed: 1 },
    { outcomes: ['bad', 'bad'], status: 'failed', failed: 2 },
  ])('$outcomes ends as $status', async ({ outcomes, status, failed }) => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b'])
    for (const outcome of outcomes) {
      const call = await service.fetch.next()
      service.clock.advance(1_000)
      if (outcome === 'ok') call.succeed('text')
      else call.fail('http_500')
    }
    await service.runner.idle()
    const job = (await service.get(body.id)).body
    expect(job).toMatchObject({ status, targets_done: 2, targets_failed: failed })
    expect(job.finished_at).toBe(new Date(service.clock.now()).toISOString())
    expect(job).not.toHaveProperty('error')
  })

  it('never shows a live job with all of its outcomes, nor a final one without: both come in one transaction', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const call = await service.fetch.next()
    call.succeed('A')
    for (let polls = 0, final = false; !final; polls++) {
      const job = (await service.get(body.id)).body
      expect(job.status === 'done').toBe(job.targets_done === 1)
      final = job.status === 'done'
      expect(polls).toBeLessThan(1_000)
      await setImmediate()
    }
  })

  it('gives a cancel that races the last outcome one honest answer, however they interleave', async () => {
    const endings = new Set<string>()
    for (let lead = -6; lead <= 6; lead++) {
      await using service = await buildService()
      const { body } = await service.submit(['a'])
      const call = await service.fetch.next()
      const turns = async (count: number) => {
        for (let turn = 0; turn < count; turn++) await setImmediate()
      }
      const [answer] = await Promise.all([
        turns(lead).then(() => service.cancel(body.id)),
        turns(-lead).then(() => call.succeed('A')),
      ])
      await service.runner.idle()
      const job = (await service.get(body.id)).body
      expect(job.status).toBe(answer.status === 200 ? 'cancelled' : 'done')
      expect(job).toMatchObject({ targets_done: 1, targets: [{ result: { content: 'A' } }] })
      endings.add(job.status)
    }
    expect([...endings].toSorted()).toEqual(['cancelled', 'done'])
  })
})
