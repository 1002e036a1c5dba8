import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { expect, it, onTestFinished } from 'vitest'

import { childrenOf, openFiles, tcpSockets } from '../helpers/process-state.ts'
import { startService } from '../helpers/process.ts'
import { serve } from '../helpers/raw-server.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const CALLERS = ['alice', 'bob', 'carol', 'dave']
const JOBS_PER_CALLER = 6
const FETCH_BYTES_MAX = 100_000
/** Two that convert, one that checks programs. */
const CHILDREN_MAX = 3

/** Ways to answer, each of which lets go of its connection at another place. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  page: (response) => html(response).end('<h1>Lamp</h1><p>The lamp is lit.</p>'),
  json: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"lamp":"lit"}'),
  moved: (response) => response.writeHead(302, { location: '/page' }).end('x'.repeat(50_000)),
  circle: (response) => response.writeHead(302, { location: '/circle' }).end(),
  missing: (response) => response.writeHead(404).end('x'.repeat(50_000)),
  huge: (response) => html(response).end('x'.repeat(4 * FETCH_BYTES_MAX)),
  packed: (response) => html(response, { 'content-encoding': 'gzip' }).end('this is not packed'),
}
const PATHS = Object.keys(ANSWERS)

it('a service that has run dozens of jobs and has nothing to do holds no connection, and no more files than before', async () => {
  using temp = tempFolder()
  await using pages = await serve(createServer((request, response) => ANSWERS[nameOf(request)]?.(response)))
  // On hosts of their own, so that nobody waits for their turn.
  const asked = Promise.withResolvers<void>()
  await using silent = await serve(
    createServer(() => asked.resolve()),
    { host: '127.0.0.3' },
  )
  await using broken = await serve(
    createServer((_, response) => html(response, { 'content-length': 9 }).write('x', () => response.destroy())),
    { host: '127.0.0.4' },
  )
  const service = await startService({
    DATABASE_URL: `file:${temp.file('jobs.db')}`,
    PAGEHAUL_FETCH_BYTES_MAX: String(FETCH_BYTES_MAX),
    PAGEHAUL_TARGET_TIMEOUT_MS: '8000',
  })
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const pid = service.child.pid ?? 0
  const filesBefore = namedFiles(pid)
  /** Ports that the service is connected to, or was a moment ago. */
  const connectedTo = () =>
    tcpSockets(pid).flatMap(({ isListening, localPort, remotePort }) =>
      isListening || localPort === Number(new URL(service.origin).port) ? [] : [remotePort],
    )
  const run = async (caller: string, urls: readonly string[]) => {
    const { body } = await service.submit({ targets: urls.map((url) => ({ url })), reuse: false }, caller)
    return service.ended(body.id, caller)
  }

  const timedOut = run('erin', [silent.origin])
  const brokenOff = run('frank', [broken.origin])
  await asked.promise
  expect(connectedTo()).toContain(silent.port)
  const all = CALLERS.map(async (caller) => {
    for (let count = 0; count < JOBS_PER_CALLER; count++) {
      const job = await run(
        caller,
        PATHS.map((path) => `${pages.origin}/${path}`),
      )
      expect(job.targets_done).toBe(PATHS.length) // On a busy machine some end as `timeout`; that is all the better here.
    }
  })
  await Promise.all(all)
  expect((await timedOut).targets[0]?.error).toBe('timeout')
  expect((await brokenOff).targets[0]?.status).toBe('failed')

  await Promise.all([pages.idle(), silent.idle(), broken.idle()])
  while (connectedTo().length > 0) await fetch(`${service.origin}/livez`) // It learns of a close in its own time.
  const children = childrenOf(pid)
  expect(children.length).toBeLessThanOrEqual(CHILDREN_MAX)
  expect(children.flatMap(tcpSockets)).toEqual([])
  expect(namedFiles(pid)).toEqual(filesBefore)
  expect(await service.stop('SIGTERM')).toBe(0)
}, 300_000)

const nameOf = ({ url = '' }: IncomingMessage) => url.slice(1)

const html = (response: ServerResponse, headers: Record<string, string | number> = {}) =>
  response.writeHead(200, { 'content-type': 'text/html', ...headers })

/** Without sockets and pipes, which come and go with children. */
function namedFiles(pid: number): string[] {
  return openFiles(pid)
    .filter((file) => file.startsWith('/'))
    .toSorted()
}
