import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { expect, it } from 'vitest'

import { hasProgram } from '../helpers/has-program.ts'
import { servePages } from '../helpers/page-server.ts'
import { type ServiceProcess, startService } from '../helpers/process.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

it.each([
  ['is read-only', 'pwrite64:error=EROFS', 'storage_unavailable'],
  ['fails to write', 'pwrite64:error=EIO', 'storage_unavailable'],
  ['fails to flush', 'fsync,fdatasync:error=EIO', 'storage_unavailable'],
  ['is full', 'pwrite64:error=ENOSPC', 'storage_full'],
])(
  'a disk that %s for a while: refusals and no loss, and all goes on without a restart',
  async (_what, fault, code) => {
    using temp = tempFolder()
    await using pages = await servePages()
    const file = temp.file('jobs.db')
    const service = await startService({ DATABASE_URL: `file:${file}` })
    const { body } = await service.submit({
      targets: [{ url: `${pages.origin}/slow` }, { url: `${pages.origin}/echo/b` }],
    })
    await pages.slowAsked
    const tracer = await inject(service, file, fault)
    await pages.release()
    const get = async (path: string) => (await fetch(service.origin + path)).json()
    expect(await get('/readyz')).toMatchObject({ status: 503, code })
    expect(await service.submit({ targets: [{ url: `${pages.origin}/echo/c` }] }, 'bob')).toMatchObject({
      status: 503,
      body: { code },
    })
    expect(await service.get(body.id)).toMatchObject({ status: 'running', targets_done: 0 })
    expect(await get('/livez')).toEqual({ status: 'ok' })

    await detach(tracer)
    await expect.poll(async () => (await service.get(body.id)).status, { timeout: 60_000 }).toBe('done')
    const contents = (await service.get(body.id)).targets.map(({ result }) => result?.content)
    expect(contents).toEqual(['at last', '/echo/b'])
    expect(await get('/readyz')).toEqual({ status: 'ok' })
    expect(await service.stop('SIGTERM')).toBe(0)
  },
)

it('a disk that takes 200 ms for each flush: everything is right, only slower', async () => {
  using temp = tempFolder()
  await using pages = await servePages()
  const file = temp.file('jobs.db')
  const service = await startService({ DATABASE_URL: `file:${file}` })
  const tracer = await inject(service, file, 'fsync,fdatasync:delay_enter=200000')
  const jobs = await Promise.all(
    ['alice', 'bob', 'carol'].map(async (caller) => {
      const targets = Array.from({ length: 5 }, (_, idx) => ({ url: `${pages.origin}/echo/${caller}/${idx}` }))
      return { caller, id: (await service.submit({ targets }, caller)).body.id }
    }),
  )
  for (const { caller, id } of jobs) {
    await expect.poll(async () => (await service.get(id, caller)).status, { timeout: 60_000 }).toBe('done')
    const contents = (await service.get(id, caller)).targets.map(({ result }) => result?.content)
    expect(contents).toEqual([0, 1, 2, 3, 4].map((idx) => `/echo/${caller}/${idx}`))
  }
  await detach(tracer)
  expect(await service.stop('SIGTERM')).toBe(0)
})

/** Makes the calls that a process sends to its database fail or take long, until the tracer is detached. */
async function inject({ child }: ServiceProcess, file: string, fault: string): Promise<ChildProcess> {
  if (!hasProgram('strace')) throw new Error('This test needs strace (on Debian: apt-get install strace).')
  const paths = [file, `${file}-wal`].flatMap((path) => ['-P', path])
  const tracer = spawn('strace', ['-f', '-o', '/dev/null', ...paths, '-e', `inject=${fault}`, '-p', `${child.pid}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const told: string[] = []
  for await (const line of createInterface({ input: tracer.stderr })) {
    told.push(line)
    if (!/Process \d+ attached/.test(line)) continue
    tracer.stderr.resume()
    return tracer
  }
  throw new Error(`strace could not attach itself to the service: ${told.join(' ')}`)
}

async function detach(tracer: ChildProcess): Promise<void> {
  const ended = once(tracer, 'exit')
  tracer.kill('SIGINT')
  await ended
}
