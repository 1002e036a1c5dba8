import { Agent, type IncomingMessage, request } from 'node:http'

import { describe, expect, it } from 'vitest'

import { buildService, numbered, TARGET_TIMEOUT_MS } from '../helpers/service.ts'

const alice = { 'x-caller-id': 'alice' }

describe('what job services are known to break', () => {
  it('a target that hangs costs its own deadline: later ones run, and jobs of others do not notice', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['fine', 'hangs', 'later'])
    await service.fetch.next().then((call) => call.succeed('fine'))
    const hanging = await service.fetch.next()

    const other = (await service.submit(['a', 'b'], 'bob')).body.id
    for (const name of ['A', 'B']) await service.fetch.next().then((call) => call.succeed(name))
    const waited = { 'x-caller-id': 'bob', prefer: 'wait=50' }
    const ended = await service.app.inject({ url: `/jobs/${other}`, headers: waited })
    expect(ended.json()).toMatchObject({ status: 'done', targets_done: 2 })
    expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets_done: 1 })

    service.clock.advance(TARGET_TIMEOUT_MS)
    await service.fetch.next().then((call) => call.succeed('later'))
    expect(hanging.signal.aborted).toBe(true)
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({
      status: 'partial',
      targets: [{ status: 'done' }, { error: 'timeout' }, { status: 'done' }],
    })
  })

  it('a job is found by whoever has just been given its id, 500 times, on another connection', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => call.succeed('text'))
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const [writer, reader] = [
      new Agent({ keepAlive: true, maxSockets: 1 }),
      new Agent({ keepAlive: true, maxSockets: 1 }),
    ]
    const ask = (agent: Agent, path: string, body?: object) =>
      new Promise<{ status: number; id: string }>((resolve, reject) => {
        const headers = { ...alice, ...(body && { 'content-type': 'application/json' }) }
        const sent = request(
          origin + path,
          { agent, method: body ? 'POST' : 'GET', headers },
          (answer: IncomingMessage) => {
            answer.toArray().then((chunks) => {
              const { id } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { id: string }
              resolve({ status: answer.statusCode ?? 0, id })
            }, reject)
          },
        )
        sent.on('error', reject).end(body && JSON.stringify(body))
      })
    for (let count = 0; count < 500; count++) {
      const { id } = await ask(writer, '/jobs', { targets: [{ url: `https://a.example/${count}` }] })
      expect(await ask(reader, `/jobs/${id}?view=summary`)).toEqual({ status: 200, id })
      await service.runner.idle()
    }
    for (const agent of [writer, reader]) agent.destroy()
  })

  it('each result stands with the target it belongs to, also of equal URLs and beside failures', async () => {
    await using service = await buildService()
    const tokens = ['t0', 't1', 'bad2', 't3', 'same', 'bad5', 'same', 't7', 'bad8', 't9']
    const targets = tokens.map((token, idx) => ({ url: `https://${token}.example/`, custom_id: `c${idx}` }))
    const { body } = await service.submit({ targets })
    for (const [idx, { url }] of targets.entries()) {
      const call = await service.fetch.next()
      expect(call.url).toBe(url)
      if (url.includes('bad')) call.fail(`http_50${idx}`)
      else call.succeed(`${idx} ${url}`)
    }
    await service.runner.idle()
    const expected = targets.map(({ url, custom_id }, idx) =>
      url.includes('bad')
        ? { idx, url, custom_id, error: `http_50${idx}` }
        : { idx, url, custom_id, result: { content: `${idx} ${url}` } },
    )
    expect((await service.get(body.id)).body.targets).toMatchObject(expected)
    const lines = (await service.app.inject({ url: `/jobs/${body.id}/results`, headers: alice })).body.trimEnd()
    expect(lines.split('\n').map((line) => JSON.parse(line))).toMatchObject(expected)
  })

  it('a look at a job is small, and reads no content, whatever its results weigh', async () => {
    let reads = 0
    await using service = await buildService({
      wrapStore: (store) => ({
        ...store,
        readOutcome(...which) {
          reads += 1
          return store.readOutcome(...which)
        },
      }),
    })
    const { body } = await service.submit(numbered(32))
    service.fetch.answer((call) => call.succeed('x'.repeat(2_000_000)))
    await service.runner.idle()
    for (const url of [`/jobs/${body.id}?view=summary`, `/jobs/${body.id}/events`, '/jobs']) {
      const answer = await service.app.inject({ url, headers: alice })
      expect(answer.statusCode).toBe(200)
      expect(answer.rawPayload.length).toBeLessThan(64_000)
    }
    expect(reads).toBe(0)
  })

  it('a list of 40 jobs is read page by page, each says until when it is kept, and then all are gone with a word why', async () => {
    await using service = await buildService()
    service.fetch.answer((call) => call.succeed('text'))
    const ids: string[] = []
    for (const name of numbered(40)) {
      ids.unshift((await service.submit([name])).body.id)
      await service.runner.idle()
    }
    const seen: string[] = []
    for (let query = '?limit=7'; query !== '';) {
      const { body } = await service.list(query)
      const page = body.jobs as unknown as { id: string; expires_at: string }[]
      for (const { expires_at } of page)
        expect(Date.parse(expires_at)).toBe(service.clock.now() + service.limits.leaseMs)
      seen.push(...page.map(({ id }) => id))
      query = body.next === undefined ? '' : `?limit=7&after=${body.next}`
    }
    expect(seen).toEqual(ids)
    service.clock.advance(service.limits.leaseMs)
    expect((await service.list()).body.jobs).toEqual([])
    for (const id of ids.slice(0, 3)) {
      expect((await service.get(id)).body).toMatchObject({ status: 404, hint: expect.stringContaining('expire') })
    }
  })
})
