import { describe, expect, it } from 'vitest'

import { AppError } from '../../src/errors.ts'
import { createConverter } from '../../src/fetcher/isolation/converter.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { buildService, targets } from '../helpers/service.ts'
import { fakeDelivery, webhookAfter } from '../helpers/webhook-sink.ts'

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Family {
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

const SAMPLE = /^(?<name>[a-z_:][a-z0-9_:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/i

/** The text format of Prometheus, read strictly: a line that is not of it throws. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  let help = ''
  let current: Family | undefined
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (keyword === 'HELP') help = rest
    else if (keyword === 'TYPE') families.set(name, (current = { type: rest, help, samples: [] }))
    else if (line !== '') current?.samples.push(parseSample(line))
  }
  return families
}

function parseSample(line: string): Sample {
  const { name = '', labels = '', value } = SAMPLE.exec(line)?.groups ?? {}
  const isNumber = value !== undefined && (/^nan$/i.test(value) || !Number.isNaN(Number(value)))
  if (!isNumber) throw new SyntaxError(line)
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text])
  return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }
}

type Service = Awaited<ReturnType<typeof buildService>>

async function scrape({ app }: Service) {
  const response = await app.inject('/metrics')
  const families = parse(response.body)
  const samples = [...families.values()].flatMap((family) => family.samples)
  return {
    response,
    families,
    /** The value of the sample of that name that has these labels, maybe among others; undefined if there is none. */
    value: (name: string, labels: Record<string, string> = {}) =>
      samples.find(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
      )?.value,
  }
}

/** Fetches `a`, fails `b`, and answers `c` with a status that no standard knows. */
async function drainThree(service: Service): Promise<void> {
  service.fetch.answer((call) => {
    if (call.url.includes('a.example')) call.succeed('12345')
    else call.fail(call.url.includes('b.example') ? 'http_404' : 'http_799')
  })
  await service.submit(['a', 'b', 'c'], 'carol')
  await service.runner.idle()
}

describe('/metrics', () => {
  it('is text that Prometheus reads, each metric with HELP and TYPE and a name that ends in its unit', async () => {
    await using service = await buildService()
    await drainThree(service)
    const { response, families } = await scrape(service)
    expect(response.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    const own = [...families].filter(([name]) => name.startsWith('pagehaul_'))
    expect(own.length).toBe(families.size)
    for (const [name, { type, help }] of own) {
      expect(help.endsWith('.'), name).toBe(true)
      const unit = { counter: /_total$/, histogram: /_(seconds|bytes)$/, gauge: /_(info|bytes|live)$/ }[type]
      expect(name).toMatch(unit ?? /never/)
    }
  })

  it('counts jobs by how they end, each once, and those that live', async () => {
    await using service = await buildService({ jobsPerCallerMax: 2 })
    await drainThree(service)
    service.fetch.answer(() => {})
    const { body } = await service.submit(['d'], 'carol')
    const before = await scrape(service)
    expect(before.value('pagehaul_jobs_live')).toBe(1)
    expect(before.value('pagehaul_jobs_finished_total', { status: 'partial' })).toBe(1)
    await service.cancel(body.id, 'carol')
    await service.cancel(body.id, 'carol')
    service.clock.advance(60_000) // Ends the target in flight, which is stored after the cancel.
    await service.runner.idle()
    const after = await scrape(service)
    expect(after.value('pagehaul_jobs_live')).toBe(0)
    expect(after.value('pagehaul_jobs_finished_total', { status: 'cancelled' })).toBe(1)
    expect(after.value('pagehaul_targets_total', { outcome: 'timeout' })).toBe(1)
  })

  it('counts a job that cannot be stored as failed', async () => {
    await using service = await buildService({
      wrapStore: (store) => ({ ...store, recordOutcome: () => Promise.reject(new Error('no')) }),
    })
    await drainThree(service)
    const { value } = await scrape(service)
    expect(value('pagehaul_jobs_finished_total', { status: 'failed' })).toBe(1)
    expect(value('pagehaul_jobs_live')).toBe(0)
  })

  it('counts the jobs that a dead process left', async () => {
    await using service = await buildService()
    service.fetch.answer(() => {})
    await service.submit(['a'])
    await service.store.failInterrupted(service.clock.now())
    expect((await scrape(service)).value('pagehaul_jobs_interrupted_total')).toBe(1)
  })

  it('counts targets by outcome and measures them', async () => {
    await using service = await buildService()
    const submitted = service.submit(['a'])
    const call = await service.fetch.next()
    service.clock.advance(1_500)
    call.succeed('12345')
    await submitted
    await service.runner.idle()
    await drainThree(service)
    const { value } = await scrape(service)
    expect(value('pagehaul_targets_total', { outcome: 'done' })).toBe(2)
    expect(value('pagehaul_targets_total', { outcome: 'http_404' })).toBe(1)
    expect(value('pagehaul_targets_total', { outcome: 'http_other' })).toBe(1)
    expect(value('pagehaul_target_duration_seconds_sum', { status: 'done' })).toBe(1.5)
    expect(value('pagehaul_target_duration_seconds_count', { status: 'failed' })).toBe(2)
    expect(value('pagehaul_target_bytes_total')).toBe(10)
  })

  it('counts the attempts on webhooks', async () => {
    const delivery = fakeDelivery()
    await using service = await buildService({ webhooks: delivery.webhooks })
    service.fetch.answer((call) => call.succeed('A'))
    const { body } = await service.submit({ targets: targets('a'), webhook: { url: 'https://hooks.example/' } })
    ;(await delivery.next()).answer(204)
    await webhookAfter(service, body.id, 1)
    expect((await scrape(service)).value('pagehaul_webhook_attempts_total', { state: 'delivered' })).toBe(1)
  })

  it('measures the tasks of child processes, those that are lost apart', async () => {
    const metrics = createMetrics({ process: false })
    const converter = createConverter({ onEnd: metrics.taskFinished })
    const source = {
      body: Buffer.from('<p>A'),
      url: 'https://a.example/',
      contentType: 'text/html',
      mode: 'auto',
    } as const
    const { signal } = new AbortController()
    await converter.convert(source, signal)
    await converter.convert(source, signal, 0)
    await converter.close()
    const counts = parse(await metrics.scrape(0))
      .get('pagehaul_task_duration_seconds')
      ?.samples.filter(({ name }) => name.endsWith('_count'))
    expect(counts).toMatchObject([
      { labels: { task: 'convert', end: 'done' }, value: 1 },
      { labels: { task: 'convert', end: 'late' }, value: 1 },
    ])
  })

  it('counts requests by method, route and status, whatever their URL', async () => {
    await using service = await buildService()
    for (const url of ['/jobs/a', '/jobs/b?view=summary', '/nowhere/1', '/nowhere/2']) await service.app.inject(url)
    const { value, families } = await scrape(service)
    const labels = { method: 'GET', status: '404' }
    expect(value('pagehaul_http_requests_total', { ...labels, route: '/jobs/:id' })).toBe(2)
    expect(value('pagehaul_http_requests_total', { ...labels, route: 'none' })).toBe(2)
    expect(value('pagehaul_http_request_duration_seconds_count', { route: '/jobs/:id' })).toBe(2)
    expect(families.get('pagehaul_http_requests_total')?.samples).toHaveLength(2)
  })

  it('tells the size of the database', async () => {
    await using service = await buildService()
    const before = (await scrape(service)).value('pagehaul_store_bytes') ?? 0
    service.fetch.answer((call) => call.succeed('x'.repeat(500_000)))
    await service.submit(['a'])
    await service.runner.idle()
    const after = (await scrape(service)).value('pagehaul_store_bytes') ?? 0
    expect(before).toBeGreaterThan(0)
    expect(after - before).toBeGreaterThan(400_000)
  })

  it('tells all but the size when the database cannot be read', async () => {
    let isReadable = true
    await using service = await buildService({
      wrapStore: (store) => ({
        ...store,
        size: () => (isReadable ? store.size() : Promise.reject(new AppError('storage_unavailable', 'No.'))),
      }),
    })
    await drainThree(service)
    expect((await scrape(service)).value('pagehaul_store_bytes')).toBeGreaterThan(0)
    isReadable = false
    const { response, value } = await scrape(service)
    expect(response.statusCode).toBe(200)
    expect(value('pagehaul_store_bytes')).toBeUndefined()
    expect(value('pagehaul_targets_total', { outcome: 'done' })).toBe(1)
    isReadable = true
    expect((await scrape(service)).value('pagehaul_store_bytes')).toBeGreaterThan(0)
  })

  it('tells nothing of URLs, hosts, callers and keys', async () => {
    await using service = await buildService()
    await drainThree(service)
    const secrets = ['sesame', 'carol', 'a.example', '127.0.0.1']
    const headers = { 'x-caller-id': 'carol', authorization: 'Bearer sesame', 'user-agent': 'sesame' }
    const { body } = await service.list('', 'carol')
    await service.app.inject({ url: '/jobs?after=sesame', headers })
    await service.app.inject({ url: '/sesame', headers })
    await service.app.inject({ method: 'PROPFIND', url: '/jobs', headers })
    const { response } = await scrape(service)
    expect(body.jobs).toHaveLength(1)
    for (const secret of [...secrets, ...body.jobs.map(({ id }) => id)]) expect(response.body).not.toContain(secret)
  })

  it('measures the process, too', async () => {
    const families = parse(await createMetrics({ process: true }).scrape(0))
    const names = ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds']
    expect([...families.keys()]).toEqual(expect.arrayContaining([...names, 'pagehaul_build_info']))
  })
})
