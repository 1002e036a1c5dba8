import { describe, expect, it, onTestFinished } from 'vitest'

import { type ProxyAct, serveProxy } from '../helpers/connect-proxy.ts'
import { serveArchive } from '../helpers/fake-archive.ts'
import { serveModel, writing } from '../helpers/fake-model.ts'
import { watchTo } from '../helpers/outgoing-watch.ts'
import { type ServiceProcess, startService } from '../helpers/process.ts'
import { rawServer } from '../helpers/raw-server.ts'
import { serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** A service with these settings beside those of the tests, until the end of the test. An empty one is not set. */
async function serviceWith(env: NodeJS.ProcessEnv, ...flags: readonly string[]): Promise<ServiceProcess> {
  const service = await startService({ DATABASE_URL: ':memory:', ...env }, [process.execPath, ...flags, 'src/main.ts'])
  onTestFinished(() => void service.child.kill('SIGKILL'))
  return service
}

/** What becomes of each URL. */
async function outcomesOf(service: ServiceProcess, urls: readonly string[]): Promise<string[]> {
  const { body } = await service.submit({ targets: urls.map((url) => ({ url })) })
  const { targets } = await service.ended(body.id)
  return targets.map(({ error, status }) => error ?? status)
}

/** A tunnel behind which one answer is sent, whatever is asked. */
const tunnelTo =
  (answer: string): ProxyAct =>
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.once('data', () => socket.end(answer))
  }

const PAGE = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nA page.'

describe('PAGEHAUL_GUARD_PORTS', () => {
  it.each([
    ['', [80, 443, 8080, 8443], [81, 8081]],
    ['81,8081', [81, 8081], [80, 443, 8080, 8443]],
  ])('%j opens %j, and not %j', async (setting, open, closed) => {
    await using proxy = await serveProxy(() => tunnelTo(PAGE))
    const service = await serviceWith({ PAGEHAUL_GUARD_PORTS: setting, PAGEHAUL_EGRESS_PROXY: proxy.url })
    const urls = [...open, ...closed].map((port) => `http://127.0.0.2:${port}/`)
    expect(await outcomesOf(service, urls)).toEqual([...open.map(() => 'done'), ...closed.map(() => 'blocked_port')])
    expect(proxy.asked).toEqual(open.map((port) => `127.0.0.2:${port}`))
  })
})

describe('PAGEHAUL_GUARD_NAT64', () => {
  it('is `deny` by default: an address of NAT64 is refused, wherever it leads', async () => {
    await using proxy = await serveProxy(() => tunnelTo(PAGE))
    const service = await serviceWith({ PAGEHAUL_EGRESS_PROXY: proxy.url })
    expect(await outcomesOf(service, ['http://[64:ff9b::7f00:2]/'])).toEqual(['blocked_address'])
    expect(proxy.asked).toEqual([])
  })

  it('"allow": what is inside counts, for what is fetched and for what a web archive may be asked', async () => {
    using temp = tempFolder()
    const copy = { at: '20210614093000', url: 'http://lost.example/', type: 'text/plain', body: 'A copy.' }
    await using archive = await serveArchive([copy], { host: '127.0.0.3' })
    const behind: Readonly<Record<string, ProxyAct>> = {
      '[64:ff9b::7f00:2]:80': tunnelTo(PAGE),
      '[64:ff9b::5db8:d70e]:80': tunnelTo('HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n'),
    }
    await using proxy = await serveProxy((authority) => behind[authority])
    const service = await serviceWith(
      {
        PAGEHAUL_GUARD_NAT64: 'allow',
        PAGEHAUL_EGRESS_PROXY: proxy.url,
        PAGEHAUL_ARCHIVE_URL: archive.origin,
      },
      watchTo(temp.file('outgoing'), { 'lost.example': ['64:ff9b::5db8:d70e'] }),
    )
    const { body } = await service.submit({
      targets: [{ url: 'http://[64:ff9b::7f00:2]/' }, { url: copy.url, options: { recover: true } }],
    })
    expect((await service.ended(body.id)).targets).toMatchObject([
      { result: { content: 'A page.' } },
      { result: { content: 'A copy.' } },
    ])
  })
})

it('PAGEHAUL_LLM_API_KEY: the model is asked with it', async () => {
  await using model = await serveModel([writing('In 1843 [1].')], { apiKey: 'sk-of-the-test', host: '127.0.0.1' })
  await using site = await serve({ '/': { type: 'text/plain', body: 'The lamp was lit for the first time in 1843.' } })
  const service = await serviceWith({
    PAGEHAUL_LLM_BASE_URL: model.baseUrl,
    PAGEHAUL_LLM_MODEL: 'small-model',
    PAGEHAUL_LLM_API_KEY: 'sk-of-the-test',
  })
  const options = { question: 'When was the lamp lit for the first time?' }
  const { body } = await service.submit({ targets: [{ url: site.origin, options }] })
  expect((await service.ended(body.id)).targets).toMatchObject([{ result: { meta: { answer: { method: 'model' } } } }])
})

it('PAGEHAUL_STORE_BYTES_MAX: a store of that size takes no more jobs', async () => {
  using temp = tempFolder()
  const service = await serviceWith({
    DATABASE_URL: `file:${temp.file('jobs.db')}`,
    PAGEHAUL_STORE_BYTES_MAX: '1048576',
  })
  // A quarter of a megabyte, and refused at once for its port.
  const targets = Array.from({ length: 32 }, () => ({ url: `http://127.0.0.2:22/${'x'.repeat(8_000)}` }))
  const submit = () => service.submit({ targets, reuse: false })
  let answer = await submit()
  for (let jobs = 1; answer.status === 202 && jobs < 10; jobs += 1) {
    await service.ended(answer.body.id)
    answer = await submit()
  }
  expect(answer).toMatchObject({ status: 503, body: { code: 'storage_full' } })
})

it('PAGEHAUL_HOST_GAP_MS: the next request to a host waits for so long', async () => {
  const gapMs = 500
  const askedAt: number[] = []
  await using site = await serve({
    '/': (_, response) => {
      askedAt.push(performance.now())
      response.writeHead(302, { location: '/page' }).end()
    },
    '/page': (_, response) => {
      askedAt.push(performance.now())
      response.writeHead(200, { 'content-type': 'text/plain' }).end('A page.')
    },
  })
  const service = await serviceWith({ PAGEHAUL_HOST_GAP_MS: String(gapMs) })
  expect(await outcomesOf(service, [site.origin])).toEqual(['done'])
  const [first = 0, second = 0] = askedAt
  expect(second - first).toBeGreaterThan(gapMs - 10) // Clocks and timers are a little uneven.
})

it('the caps and the lease are as they are set', async () => {
  await using silent = await rawServer(() => undefined)
  const service = await serviceWith({
    PAGEHAUL_TARGETS_PER_JOB: '2',
    PAGEHAUL_JOBS_PER_CALLER: '3',
    PAGEHAUL_JOBS_TOTAL: '4',
    PAGEHAUL_JOB_TTL_S: '100',
  })
  const submit = (caller: string, count = 1) =>
    service.submit({ targets: Array.from({ length: count }, () => ({ url: silent.origin })), reuse: false }, caller)
  expect(await submit('alice', 3)).toMatchObject({ status: 422, body: { code: 'too_many_targets', limit: 2 } })
  for (let jobs = 0; jobs < 3; jobs += 1) {
    const { status, body } = await submit('alice', 2)
    expect(status).toBe(202)
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(100_000)
  }
  expect(await submit('alice')).toMatchObject({ status: 429, body: { code: 'caller_busy', limit: 3 } })
  expect((await submit('bob')).status).toBe(202)
  expect(await submit('carol')).toMatchObject({ status: 429, body: { code: 'jobs_busy', limit: 4 } })
})

it('PAGEHAUL_FETCH_BYTES_MAX and PAGEHAUL_CONTENT_BYTES_MAX: what a page may have, and what is kept of it', async () => {
  const page = (length: number) => ({ type: 'text/plain', body: 'x'.repeat(length) })
  await using site = await serve({ '/small': page(1_024), '/long': page(2_000), '/large': page(2_001) })
  const service = await serviceWith({ PAGEHAUL_FETCH_BYTES_MAX: '2000', PAGEHAUL_CONTENT_BYTES_MAX: '1024' })
  const targets = ['/small', '/long', '/large'].map((path) => ({ url: site.origin + path }))
  const { body } = await service.submit({ targets })
  expect((await service.ended(body.id)).targets).toMatchObject([
    { result: { content: 'x'.repeat(1_024), meta: { bytes: 1_024 } } },
    { result: { content: 'x'.repeat(1_024), meta: { bytes: 2_000, truncated: true } } },
    { error: 'too_large', message: 'The answer is larger than 2000 bytes.' },
  ])
})

it('PAGEHAUL_TARGET_TIMEOUT_MS: a target that takes longer fails, and its page has half the time if there is an archive', async () => {
  await using silent = await rawServer(() => undefined)
  const service = await serviceWith({ PAGEHAUL_TARGET_TIMEOUT_MS: '3000' })
  const url = silent.origin
  const { body } = await service.submit({ targets: [{ url, options: { recover: true } }, { url }] })
  expect(body).toMatchObject({ worst_case_s: 6 })
  expect((await service.ended(body.id)).targets).toMatchObject([
    { error: 'timeout', message: expect.stringContaining('did not answer within 1 s') },
    { error: 'timeout', message: 'The target took longer than 3 s.' },
  ])
})

it('PAGEHAUL_DOCS and HOST: what is shown, and where', async () => {
  const shown = await serviceWith({ HOST: '127.0.0.3' })
  const hidden = await serviceWith({ PAGEHAUL_DOCS: 'off' })
  expect(shown.origin).toMatch(/^http:\/\/127\.0\.0\.3:/)
  expect((await fetch(`${shown.origin}/docs/`)).status).toBe(200)
  expect((await fetch(`${hidden.origin}/docs/`)).status).toBe(404)
})
