import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

import { beforeAll, describe, expect, it } from 'vitest'

import { createKey, digestKey } from '../../src/api-key.ts'
import { buildService, numbered, targets } from '../helpers/service.ts'
import type { Client, Connection, Problem } from './client.ts'

const HERE = import.meta.dirname
const GENERATED = path.join(HERE, 'generated')
const DOCUMENT = path.join(GENERATED, 'openapi.json')
const PREPARE_MS_MAX = 100_000

const run = promisify(execFile)

/** Runs a script of Node, and fails with what it has printed. */
async function node(...args: string[]): Promise<void> {
  await run(process.execPath, args, { cwd: HERE }).catch((error: Error & { stdout: string; stderr: string }) => {
    throw new Error(`${error.message}\n${error.stdout}${error.stderr}`)
  })
}

beforeAll(async () => {
  await using service = await listening()
  await rm(GENERATED, { recursive: true, force: true })
  await mkdir(GENERATED)
  const document = await fetch(`${service.baseUrl}/openapi.json`)
  await writeFile(DOCUMENT, await document.text())
  await node('generate.ts', DOCUMENT, GENERATED)
}, PREPARE_MS_MAX)

/** One client is told the problem, the other the status alone. */
const isNotFound = (cause: Error | Problem) =>
  'code' in cause ? cause.code === 'job_not_found' : / 404 /.test(cause.message)

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

/** The service on a port of its own. */
async function listening(options: Parameters<typeof buildService>[0] = {}) {
  const service = await buildService(options)
  const baseUrl = await service.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...service, baseUrl }
}

async function connect(name: string, connection: Connection): Promise<Client> {
  const program = (await import(`./programs/${name}.ts`)) as { connect(to: Connection): Client }
  return program.connect(connection)
}

/** Services and clients of two callers. */
async function start(name: string, options: Parameters<typeof buildService>[0] = {}) {
  const service = await listening(options)
  const { baseUrl } = service
  const alice = await connect(name, { baseUrl, caller: 'alice' })
  return { ...service, alice, bob: await connect(name, { baseUrl, caller: 'bob' }) }
}

it(
  'generated clients pass the compiler, and their types are those of the service',
  async () => {
    await expect(node('node_modules/typescript/bin/tsc', '-p', '.')).resolves.toBeUndefined()
  },
  PREPARE_MS_MAX,
)

describe.each(['hey-api', 'openapi-fetch'])('a client by %s', (name) => {
  it('submits, waits for the end, and reads', async () => {
    await using service = await start(name)
    service.fetch.answer((call) => (call.url.includes('a.example') ? call.succeed('# A') : call.fail('http_404')))
    const { alice } = service
    const { status, headers, data } = await alice.submit({ targets: targets('a', 'b') }, { prefer: 'wait=20' })
    expect(status).toBe(200)
    expect(headers.get('preference-applied')).toBe('wait=20')
    expect(data).toMatchObject({ status: 'partial', targets: [{ result: { content: '# A' } }, { error: 'http_404' }] })
    const id = data?.id ?? ''
    expect((await alice.target(id, 1)).data).toMatchObject({ idx: 1, status: 'failed' })
    expect(await alice.content(id, 0, 'text/markdown')).toMatchObject({ status: 200, data: '# A' })
    expect((await alice.list()).data?.jobs).toMatchObject([{ id, targets_failed: 1 }])
    const known = await alice.get(id)
    const again = await alice.get(id, { 'if-none-match': known.headers.get('etag') ?? '' })
    expect(again).toMatchObject({ status: 304, data: undefined })
  })

  it('gets a running job at once, and its end as soon as it comes', async () => {
    await using service = await start(name)
    const { alice } = service
    const { status, headers, data } = await alice.submit({ targets: targets('a') })
    expect(status).toBe(202)
    const id = data?.id ?? ''
    expect(headers.get('location')).toBe(`/jobs/${id}`)
    const waiting = alice.get(id, { prefer: 'wait=50' })
    ;(await service.fetch.next()).succeed('A')
    expect((await waiting).data).toMatchObject({ id, status: 'done' })
  })

  it('follows the outcomes as lines and as events', async () => {
    await using service = await start(name)
    const { alice } = service
    const { data } = await alice.submit({ targets: targets('a', 'b') })
    const id = data?.id ?? ''
    const lines = alice.results(id)
    const events = alice.events(id)
    const first = [lines.next(), events.next()]
    ;(await service.fetch.next()).succeed('A')
    const [line, event] = await Promise.all(first)
    expect(line?.value).toMatchObject({ idx: 0, status: 'done', result: { content: 'A' } })
    expect(event?.value).toMatchObject({ idx: 0, status: 'done' })
    ;(await service.fetch.next()).fail('timeout')
    expect(await all(lines)).toMatchObject([{ idx: 1, error: 'timeout' }])
    expect(await all(events)).toMatchObject([
      { idx: 1, error: 'timeout' },
      { id, status: 'partial' },
    ])
  })

  it('cancels, and fetches again what was left', async () => {
    await using service = await start(name)
    const { alice } = service
    const { data } = await alice.submit({ targets: targets('a', 'b') })
    const id = data?.id ?? ''
    expect((await alice.cancel(id)).data).toMatchObject({ id, status: 'cancelled' })
    ;(await service.fetch.next()).succeed('A')
    await service.runner.idle()
    service.fetch.answer((call) => call.succeed('B'))
    const retried = await alice.retry(id)
    expect(retried).toMatchObject({ status: 202, data: { retry_of: id, targets: [{ url: 'https://b.example/' }] } })
  })

  it('is told each problem by status and code', async () => {
    await using service = await start(name, { jobsTotalMax: 1 })
    const { alice, bob } = service
    const submission = { targets: targets('a') }
    const expectProblem = async (reply: Promise<{ status: number; problem: unknown }>, status: number, code: string) =>
      expect(await reply).toMatchObject({ status, problem: { status, code, type: `/problems/${code}` } })

    await expectProblem(alice.submit(submission, { rawBody: '{' }), 400, 'invalid_json')
    await expectProblem(alice.submit(submission, { contentType: 'text/csv' }), 415, 'unsupported_media_type')
    await expectProblem(alice.submit(submission, { rawBody: 'x'.repeat(600_000) }), 413, 'body_too_large')
    await expectProblem(alice.submit({ targets: [{ url: 'ftp://a.example/' }] }), 422, 'validation_failed')
    await expectProblem(alice.submit({ targets: targets(...numbered(33)) }), 422, 'too_many_targets')
    await expectProblem(alice.get('none'), 404, 'job_not_found')

    const { data } = await alice.submit(submission)
    const id = data?.id ?? ''
    await expectProblem(alice.submit({ targets: targets('b') }), 429, 'caller_busy')
    await expectProblem(bob.submit(submission), 429, 'jobs_busy')
    await expectProblem(bob.get(id), 404, 'job_not_found')
    await expectProblem(alice.target(id, 7), 404, 'target_not_found')
    await expectProblem(alice.content(id, 0, 'text/plain'), 409, 'no_content')
    await expectProblem(alice.content(id, 0, 'image/png'), 406, 'not_acceptable')
    await expectProblem(alice.retry(id), 409, 'job_not_finished')

    ;(await service.fetch.next()).succeed('A')
    await service.runner.idle()
    await expectProblem(alice.cancel(id), 409, 'job_finished')
    await expectProblem(alice.retry(id), 409, 'nothing_to_retry')
    service.jobs.stop()
    await expectProblem(alice.submit({ targets: targets('b') }), 503, 'shutting_down')
  })

  it('is told that there is no such job to follow', async () => {
    await using service = await start(name)
    await expect(service.alice.events('none').next()).rejects.toMatchObject({ cause: expect.toSatisfy(isNotFound) })
  })

  it('names its caller by an API key', async () => {
    const key = createKey()
    const apiKeys = [{ name: 'ann', digest: digestKey(key), expiresAt: undefined }]
    await using service = await listening({ access: { apiKeys } })
    const { baseUrl } = service
    const ann = await connect(name, { baseUrl, apiKey: key })
    expect(await ann.list()).toMatchObject({ status: 200, data: { jobs: [] } })
    const nobody = await connect(name, { baseUrl })
    expect(await nobody.list()).toMatchObject({ status: 401, problem: { code: 'unauthorized' } })
  })
})
