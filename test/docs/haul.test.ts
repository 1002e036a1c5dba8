import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { promisify } from 'node:util'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createKey } from '../../src/api-key.ts'
import type { TargetView } from '../../src/jobs/schema.ts'
import { hasProgram } from '../helpers/has-program.ts'
import { type ServiceProcess, startService } from '../helpers/process.ts'
import { type Route, serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Each needs what it is written in; a machine without Python runs the other two. */
const SCRIPTS = [
  { script: 'haul.sh', program: 'bash', needs: 'curl' },
  { script: 'haul.py', program: 'python3', needs: 'python3' },
  { script: 'haul.ts', program: process.execPath, needs: 'node' },
].filter(({ needs }) => hasProgram(needs))

describe.each(SCRIPTS)('docs/examples/$script', ({ script, program }) => {
  /** What the script prints for these lines of a list; rejects if it does not exit with 0. */
  async function haul(lines: readonly string[], env: NodeJS.ProcessEnv) {
    using folder = tempFolder()
    const list = folder.file('urls.txt')
    writeFileSync(list, lines.join('\n'))
    return await promisify(execFile)(program, [`docs/examples/${script}`, list], {
      env: { ...process.env, ...env },
      timeout: 50_000,
    })
  }

  it('fetches a long list in jobs and prints a line for each URL, in order', async () => {
    const paths = numbered(70)
    await using pages = await serve(Object.fromEntries(paths.slice(1).map((path) => [path, text(path)])))
    const key = createKey()
    const service = await start({ DATABASE_URL: ':memory:', PAGEHAUL_API_KEYS: `alice:${key}` })
    const lines = ['# pages', '', ...paths.map((path) => ` ${pages.origin}${path}\r`)]
    const { stdout } = await haul(lines, { PAGEHAUL: service.origin, HAUL_KEY: key })
    expect(printed(stdout)).toEqual(expected(paths, { '/0': 'http_404' }))
  })

  it('prints a line for each URL, once and in order, although SIGTERM stops the service in the middle', async () => {
    const paths = numbered(35)
    const asked = Promise.withResolvers<ServerResponse>()
    await using pages = await serve({
      ...Object.fromEntries(paths.slice(1).map((path) => [path, text(path)])),
      '/20': (_, response) => asked.resolve(response),
    })
    using folder = tempFolder()
    const env = { DATABASE_URL: `file:${folder.file('jobs.db')}`, PORT: String(await freePort()) }
    const service = await start(env)
    const urls = paths.map((path) => pages.origin + path)
    const running = haul(urls, { PAGEHAUL: service.origin })
    const inFlight = await asked.promise
    const stopped = service.stop('SIGTERM')
    await notReady(service)
    inFlight.writeHead(200, { 'content-type': 'text/plain' }).end(text('/20').body)
    await stopped
    await start(env)
    expect(printed((await running).stdout)).toEqual(expected(paths, { '/0': 'http_404' }))
  })

  it('goes on with the retry of a retry when the service is killed, and again while it fetches anew what failed', async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const gone = { status: 404, body: 'There is no such page.' }
    await using pages = await serve({
      '/0': oneAfterTheOther(gone, text('/0'), text('/0')),
      '/1': oneAfterTheOther(gone, () => second.resolve(), text('/1')),
      '/2': text('/2'),
      '/3': oneAfterTheOther(() => first.resolve(), text('/3')),
      '/4': text('/4'),
    })
    using folder = tempFolder()
    const env = { DATABASE_URL: `file:${folder.file('jobs.db')}`, PORT: String(await freePort()) }
    let service = await start(env)
    const paths = numbered(5)
    const urls = paths.map((path) => pages.origin + path)
    const running = haul(urls, { PAGEHAUL: service.origin })
    for (const { promise } of [first, second]) {
      await promise
      await service.stop('SIGKILL')
      service = await start(env)
    }
    expect(printed((await running).stdout)).toEqual(expected(paths, { '/0': 'http_404', '/1': 'http_404' }))
  })

  it('prints neither a line that is cut off nor the page of a proxy, and asks again', async () => {
    const line = (idx: number) => `${JSON.stringify({ idx, url: `http://a.example/${idx}`, status: 'done' })}\n`
    const job = { body: '{"status":"running","targets_total":2,"targets_done":1,"targets_failed":0}' }
    await using fake = await serve({
      '/jobs': (_, response) => response.writeHead(202, { location: '/jobs/j' }).end(job.body),
      '/jobs/j?view=summary': oneAfterTheOther({ status: 502, body: '<html>' }, job),
      '/jobs/j/results?follow=true&from=0': (_, response) => {
        response.writeHead(200).write(line(0) + line(1).slice(0, 20), () => response.destroy())
      },
      '/jobs/j/results?follow=true&from=1': oneAfterTheOther({ status: 502, body: '<html>\n' }, { body: line(1) }),
    })
    const { stdout } = await haul(['http://a.example/0', 'http://a.example/1'], { PAGEHAUL: fake.origin })
    expect(stdout).toBe(line(0) + line(1))
  })

  it('exits with an error and prints nothing when the service refuses the list', async () => {
    const service = await start({ DATABASE_URL: ':memory:' })
    await expect(haul(['ftp://a.example/'], { PAGEHAUL: service.origin })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('validation_failed'),
    })
  })

  it('exits with an error when the service does not come back', async () => {
    const env = { PAGEHAUL: `http://127.0.0.1:${await freePort()}`, HAUL_TRIES: '1' }
    await expect(haul(['http://a.example/'], env)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('gave up after 0 lines'),
    })
  })
})

/** A service that ends with the test at the latest. */
async function start(env: NodeJS.ProcessEnv): Promise<ServiceProcess> {
  const service = await startService(env)
  onTestFinished(() => void service.child.kill('SIGKILL'))
  return service
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `/${index}`)

const text = (path: string) => ({ type: 'text/plain', body: `I am ${path}` })

/** What is to be seen of the lines: their places, and the contents of the pages or these errors. */
const expected = (paths: readonly string[], errors: Readonly<Record<string, string>>) =>
  paths.map((path, idx) => ({ idx, says: errors[path] ?? text(path).body }))

const printed = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TargetView)
    .map(({ idx, result, error }) => ({ idx, says: result?.content ?? error }))

/** The first request gets the first answer, and so on; the last answer is for all that follow. */
function oneAfterTheOther(...routes: readonly Route[]): Route {
  let count = 0
  return (request, response) => {
    const route = routes[Math.min(count++, routes.length - 1)]
    if (typeof route === 'function') route(request, response)
    else response.writeHead(route?.status ?? 200, { 'content-type': 'text/plain' }).end(route?.body)
  }
}

async function notReady({ origin }: ServiceProcess): Promise<void> {
  while ((await fetch(`${origin}/readyz`)).ok);
}

/** A port that a service can have twice: before it is stopped, and when it is started again. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('a port is given')
  return address.port
}
