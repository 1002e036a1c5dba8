import { chmodSync, truncateSync, writeFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { openDatabase } from '../../src/store/open.ts'
import { servePages } from '../helpers/page-server.ts'
import { failToStart, startService } from '../helpers/process.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const NOBODY = 65_534

describe('stopping', () => {
  it.each<NodeJS.Signals>(['SIGTERM', 'SIGINT'])(
    '%s lets the target in flight finish and stores it, and exits with 0',
    async (signal) => {
      using temp = tempFolder()
      await using pages = await servePages()
      const env = { DATABASE_URL: `file:${temp.file('jobs.db')}` }
      const service = await startService(env)
      const { body } = await service.submit({
        targets: ['/slow', '/text'].map((path) => ({ url: pages.origin + path })),
      })
      await pages.slowAsked
      const stopped = service.stop(signal)
      let ready = 200
      while (ready === 200) ready = (await fetch(`${service.origin}/readyz`)).status
      expect(ready).toBe(503)
      const refused = await service.submit({ targets: [{ url: `${pages.origin}/text` }] }, 'bob')
      expect(refused).toMatchObject({ status: 503, body: { code: 'shutting_down' } })
      expect((await service.get(body.id)).status).toBe('running')
      await pages.release()
      expect(await stopped).toBe(0)
      expect(pages.hits).toEqual(['/slow'])

      const again = await startService(env)
      expect(await again.get(body.id)).toMatchObject({
        status: 'failed',
        error: 'restart',
        targets_done: 1,
        targets: [{ result: { content: 'at last' } }, { status: 'pending' }],
      })
      expect(await again.stop('SIGTERM')).toBe(0)
    },
    60_000,
  )
})

describe('a start that cannot be', () => {
  it('is refused to a second process on the same file', async () => {
    using temp = tempFolder()
    const env = { DATABASE_URL: `file:${temp.file('jobs.db')}` }
    const first = await startService(env)
    const { code, stderr } = await failToStart(env)
    expect(code).toBe(1)
    expectOneLine(stderr, /in use by another pagehaul process/)
    const samePort = await failToStart({ DATABASE_URL: ':memory:', PORT: new URL(first.origin).port })
    expectOneLine(samePort.stderr, /another program listens at this HOST and PORT/)
    expect((await fetch(`${first.origin}/readyz`)).status).toBe(200)
    expect(await first.stop('SIGKILL')).toBe('SIGKILL')
    const next = await startService(env)
    expect(await next.stop('SIGTERM')).toBe(0)
  }, 60_000)

  it.each<{ what: string; prepare: (file: string) => void; says: RegExp }>([
    {
      what: 'a text file',
      prepare: (file) => writeFileSync(file, 'notes '.repeat(500)),
      says: /not a SQLite database/,
    },
    { what: 'a missing folder', prepare: () => {}, says: /folder .* does not exist/ },
    {
      what: 'a truncated database',
      prepare(file) {
        openDatabase(file).close()
        truncateSync(file, 12_288)
      },
      says: /is damaged/,
    },
    {
      what: 'a newer schema',
      prepare(file) {
        const { db, close } = openDatabase(file)
        db.pragma('user_version = 999')
        close()
      },
      says: /newer pagehaul/,
    },
  ])('names $what in one line and exits with 1', async ({ what, prepare, says }) => {
    using temp = tempFolder()
    const file = temp.file(what === 'a missing folder' ? 'missing/jobs.db' : 'jobs.db')
    prepare(file)
    const { code, stderr } = await failToStart({ DATABASE_URL: `file:${file}` })
    expect(code).toBe(1)
    expectOneLine(stderr, says)
  })

  it.each([
    ['a..b', /the name HOST leads to no address/],
    ['192.0.2.1', /this machine has no address HOST/],
  ])('names HOST=%s in one line and exits with 1', async (host, says) => {
    const { code, stderr } = await failToStart({ DATABASE_URL: ':memory:', LOG_LEVEL: 'silent', HOST: host })
    expect(code).toBe(1)
    expectOneLine(stderr, says)
  })

  it('names a read-only file in one line and exits with 1', async () => {
    using temp = tempFolder()
    openDatabase(temp.file('jobs.db')).close()
    chmodSync(temp.folder, 0o777)
    chmodSync(temp.file('jobs.db'), 0o444)
    chmodSync(temp.file('jobs.db.lock'), 0o666)
    // Nothing is read-only for root, so the service runs as nobody there.
    const user = process.getuid?.() === 0 ? NOBODY : undefined
    const { code, stderr } = await failToStart({ DATABASE_URL: `file:${temp.file('jobs.db')}` }, user)
    expect(code).toBe(1)
    expectOneLine(stderr, /is read-only/)
  })

  it('names every wrong setting and exits with 2', async () => {
    const { code, stderr } = await failToStart({ PAGEHAUL_JOB_TTL: '1', LOG_LEVEL: 'loud' })
    expect(code).toBe(2)
    expect(stderr).toMatch(/PAGEHAUL_JOB_TTL: .*\n.*LOG_LEVEL: /)
    expect(stderr).not.toContain('at ')
  })
})

function expectOneLine(text: string, says: RegExp): void {
  expect(text).toMatch(says)
  expect(text.trim().split('\n')).toHaveLength(1)
}

it('ends on SIGTERM although nobody reads its log any more', async () => {
  const service = await startService({ DATABASE_URL: ':memory:' })
  service.child.stdout?.destroy()
  expect(await service.stop('SIGTERM')).toBe(0)
})
