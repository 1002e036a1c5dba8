import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { TargetView } from '../../src/jobs/schema.ts'
import { openRequest, until } from '../helpers/open-request.ts'
import { buildService, numbered } from '../helpers/service.ts'

const alice = { 'x-caller-id': 'alice' }
const parse = (line: string | undefined) => JSON.parse(line ?? '') as TargetView

describe('GET /jobs/{id}/results', () => {
  it('gives the targets that have an outcome now, a line each, as they stand in the job', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c', 'd'])
    await service.fetch.next().then((call) => call.succeed('line\nbreak \u2028 "quoted"'))
    await service.fetch.next().then((call) => call.fail('http_404'))
    await service.fetch.peek()
    const read = async (search: string) =>
      (await service.app.inject({ url: `/jobs/${body.id}/results${search}`, headers: alice })).body
    const answer = await service.app.inject({ url: `/jobs/${body.id}/results`, headers: alice })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'private, no-store',
      'x-accel-buffering': 'no',
    })
    expect(answer.body.endsWith('\n')).toBe(true)
    const lines = answer.body.trimEnd().split('\n')
    expect(lines.map(parse)).toEqual((await service.get(body.id)).body.targets.slice(0, 2))
    expect(await read('?from=1')).toBe(`${lines[1]}\n`)
    expect(await read('?from=2')).toBe('')
    expect(await read('?from=1000000')).toBe('')
  })

  it('refuses a place that is none', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    for (const search of ['from=-1', 'from=x', 'from=1.5', 'from=1000001', 'follow=yes', 'follow=1', 'after=1']) {
      const answer = await service.app.inject({ url: `/jobs/${body.id}/results?${search}`, headers: alice })
      expect(answer.json(), search).toMatchObject({ status: 422, code: 'validation_failed' })
    }
  })

  it.each(['', '?follow=true'])('answers 404 for the job of another caller (%s)', async (search) => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const answer = await service.app.inject({ url: `/jobs/${body.id}/results${search}` })
    expect(answer.json()).toMatchObject({ status: 404, code: 'job_not_found' })
  })
})

describe('GET /jobs/{id}/results?follow=true', () => {
  /** A service that listens, with a job of these targets, and a follower of it. */
  async function withFollower(names: readonly string[], search = '') {
    const service = await buildService()
    const { body } = await service.submit(names)
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const follow = (query = search) => openRequest(`${origin}/jobs/${body.id}/results?follow=true${query}`)
    return { service, id: body.id, follow, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
  }

  it('sends the header before there is anything to tell, each outcome as it comes, and ends with the job', async () => {
    await using following = await withFollower(['a', 'b'])
    const { service, id } = following
    const stream = await following.follow()
    expect(stream.status).toBe(200)
    await service.fetch.next().then((call) => call.succeed('A'))
    expect(parse(await stream.line())).toMatchObject({ idx: 0, status: 'done', result: { content: 'A' } })
    expect((await service.get(id)).body.status).toBe('running')
    await service.fetch.next().then((call) => call.fail('timeout'))
    expect(parse(await stream.line())).toMatchObject({ idx: 1, status: 'failed', error: 'timeout' })
    expect(await stream.rest()).toEqual([])
  })

  it('starts at `from`, told or not yet, and waits for the end beyond the last one', async () => {
    await using following = await withFollower(numbered(3))
    const { service } = following
    await service.fetch.next().then((call) => call.succeed('0'))
    await service.fetch.peek()
    const streams = await Promise.all(['&from=0', '&from=1', '&from=2', '&from=3', '&from=9'].map(following.follow))
    service.fetch.answer((call) => call.succeed('x'))
    const told = await Promise.all(streams.map(async (stream) => (await stream.rest()).map((line) => parse(line).idx)))
    expect(told).toEqual([[0, 1, 2], [1, 2], [2], [], []])
  })

  it('tells the outcome of the target in flight of a cancelled job before it ends', async () => {
    await using following = await withFollower(['a', 'b'])
    const { service, id } = following
    const inFlight = await service.fetch.next()
    const stream = await following.follow()
    await service.cancel(id)
    const late = await following.follow() // Comes when the job is final and its last outcome is not there yet.
    inFlight.succeed('A')
    for (const lines of [await stream.rest(), await late.rest()]) {
      expect(lines.map(parse)).toMatchObject([{ idx: 0, result: { content: 'A' } }])
    }
  })

  it('ends with a job that fails as a whole', async () => {
    await using service = await buildService({
      wrapStore: (store) => ({ ...store, recordOutcome: () => Promise.reject(new Error('boom')) }),
    })
    const { body } = await service.submit(['a', 'b'])
    const answer = service.app.inject({ url: `/jobs/${body.id}/results?follow=true`, headers: alice })
    await service.fetch.next().then((call) => call.succeed('A'))
    expect((await answer).body).toBe('')
    expect((await service.get(body.id)).body).toMatchObject({ status: 'failed', error: 'internal' })
  })

  it('leaves neither a waiter nor a timer behind when the client goes away', async () => {
    await using following = await withFollower(['a', 'b'])
    const { service, id } = following
    const timers = service.clock.waiting
    const streams = await Promise.all(Array.from({ length: 20 }, () => following.follow()))
    await until(() => service.changes.waiters(id) === 20)
    for (const stream of streams) stream.leave()
    await until(() => service.changes.waiters(id) === 0)
    expect(service.clock.waiting).toBe(timers)
  })

  it('ends when the service stops, and goes on with `from` where it was left', async () => {
    await using following = await withFollower(['a', 'b'])
    const { service } = following
    const stream = await following.follow()
    await service.fetch.next().then((call) => call.succeed('A'))
    expect(parse(await stream.line()).idx).toBe(0)
    service.jobs.stop()
    expect(await stream.rest()).toEqual([])
  })

  it('is the same whole, however it is cut into followers that each go on where the one before left', async () => {
    await using service = await buildService({ jobsPerCallerMax: 100, jobsTotalMax: 100 })
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const property = fc.asyncProperty(
      fc.array(fc.record({ fails: fc.boolean(), leaves: fc.constantFrom('not', 'at once', 'after reading') }), {
        minLength: 1,
        maxLength: 8,
      }),
      async (steps) => {
        const { body } = await service.submit({
          targets: numbered(steps.length).map((name) => ({ url: `https://${name}.example/` })),
          reuse: false,
        })
        const url = `${origin}/jobs/${body.id}/results?follow=true`
        const told: TargetView[] = []
        let stream = await openRequest(url)
        for (const [idx, { fails, leaves }] of steps.entries()) {
          const call = await service.fetch.next()
          if (fails) call.fail('timeout')
          else call.succeed(call.url)
          if (leaves === 'not') continue
          const read = leaves === 'after reading' ? idx + 1 : told.length
          while (told.length < read) told.push(parse(await stream.line()))
          stream.leave()
          stream = await openRequest(`${url}&from=${told.length}`)
        }
        told.push(...(await stream.rest()).map(parse))
        expect(told).toEqual((await service.get(body.id)).body.targets)
      },
    )
    await fc.assert(property, { numRuns: 25 })
  })
})
