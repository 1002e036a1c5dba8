import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

const alice = { 'x-caller-id': 'alice' }

describe('the entity tag of a job', () => {
  it('changes with every outcome and every status, and with nothing else', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c'])
    const url = `/jobs/${body.id}`
    const read = async (method: 'GET' | 'HEAD' = 'GET', search = '') =>
      (await service.app.inject({ method, url: url + search, headers: alice })).headers.etag
    const seen = [await read()]
    await service.fetch.next().then((call) => call.succeed('A'))
    const second = await service.fetch.next()
    seen.push(await read())
    await service.cancel(body.id)
    seen.push(await read())
    second.fail('timeout')
    await service.runner.idle()
    seen.push(await read())
    expect(new Set(seen).size).toBe(4)
    for (const tag of seen) expect(tag).toMatch(/^W\/"[\x21\x23-\x7e]+"$/)

    service.clock.advance(60_000)
    await service.cancel(body.id)
    expect([await read(), await read('HEAD'), await read('GET', '?view=summary')]).toEqual(Array(3).fill(seen[3]))
  })

  it('answers 304 to whoever has it, as proxies that compress may have marked it, and 200 to others', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const url = `/jobs/${body.id}`
    const etag = String((await service.app.inject({ url, headers: alice })).headers.etag)
    const opaque = etag.slice(3, -1)
    const same = [etag, `"${opaque}"`, `w/"${opaque}"`, '*', ` * `, `"other", ${etag}`, `${etag},"other"`]
    const marked = ['-gzip', '--gzip', ';br', '-zstd', ';deflate'].flatMap((mark) => [
      `W/"${opaque}${mark}"`,
      `"${opaque}${mark}"`,
    ])
    const others = [`W/"${opaque}-x"`, `W/"${opaque}0"`, opaque, '"other"', '', ', ,', '"gzip"', '-gzip"']
    for (const [sent, status] of [
      ...[...same, ...marked].map((tag) => [tag, 304] as const),
      ...others.map((tag) => [tag, 200] as const),
    ]) {
      const answer = await service.app.inject({ url, headers: { ...alice, 'if-none-match': sent } })
      expect(answer.statusCode, sent).toBe(status)
      expect(answer.headers).toMatchObject({ etag, 'cache-control': 'private, no-cache' })
      expect(answer.body === '').toBe(status === 304)
    }
  })

  it('does not answer 304 for a job that is not there', async () => {
    await using service = await buildService()
    const answer = await service.app.inject({ url: '/jobs/nope', headers: { ...alice, 'if-none-match': '*' } })
    expect(answer.statusCode).toBe(404)
    expect(answer.headers).not.toHaveProperty('etag')
  })

  it('goes together with a wait: 304 once the time is over, 200 once the job has ended', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const call = await service.fetch.next()
    const url = `/jobs/${body.id}`
    const { etag } = (await service.app.inject({ url, headers: alice })).headers
    const timers = service.clock.waiting
    const headers = { ...alice, 'if-none-match': String(etag), prefer: 'wait=5' }
    const first = service.app.inject({ url, headers })
    while (service.clock.waiting === timers) await service.get(body.id)
    service.clock.advance(5_000)
    expect((await first).statusCode).toBe(304)
    expect((await first).headers).toMatchObject({ etag, 'preference-applied': 'wait=5' })
    const second = service.app.inject({ url, headers })
    call.succeed('A')
    expect((await second).statusCode).toBe(200)
    expect((await second).json()).toMatchObject({ status: 'done' })
  })

  it('revalidates through a proxy that compresses and marks the tag with the coding', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    await using proxy = await compressingProxy(origin)
    const url = `${proxy.origin}/jobs/${body.id}`
    const first = await fetch(url, { headers: alice })
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('content-encoding')).toBe('gzip')
    expect(etag).toMatch(/^W\/".+-gzip"$/)
    expect(await first.json()).toMatchObject({ id: body.id, status: 'running' })
    expect((await fetch(url, { headers: { ...alice, 'if-none-match': etag } })).status).toBe(304)

    await service.fetch.next().then((call) => call.succeed('A'))
    await service.runner.idle()
    const changed = await fetch(url, { headers: { ...alice, 'if-none-match': etag } })
    expect(await changed.json()).toMatchObject({ status: 'done' })
  })
})

/** Passes requests on as they are, and gzips what comes back. `await using` closes it. */
async function compressingProxy(origin: string) {
  const server = createServer((incoming, outgoing) => {
    const { url = '', method = 'GET', headers } = incoming
    const sent = request(origin + url, { method, headers: { ...headers, host: new URL(origin).host } }, (answer) => {
      const { 'content-length': _, ...kept } = answer.headers
      if (answer.statusCode !== 200) return answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, kept))
      const etag = answer.headers.etag?.replace(/"$/, '-gzip"')
      outgoing.writeHead(200, { ...kept, etag, 'content-encoding': 'gzip' })
      return answer.pipe(createGzip()).pipe(outgoing)
    })
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
