import { execFile } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { DEFAULT_LIMITS } from '../../src/jobs/limits.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { success } from '../helpers/fake-fetch.ts'
import { servePages } from '../helpers/page-server.ts'
import { type ServiceProcess, startService } from '../helpers/process.ts'
import { writeSchema3 } from '../helpers/schema-3.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { newJob } from './conformance.ts'

const NO_LINKS = `fs.linkSync = () => { throw new Error('there are no links here') }`
const CALLERS = Array.from({ length: 8 }, (_, index) => `caller-${index}`)

describe('npm run backup', () => {
  it('copies a database under load: the copy has every outcome acknowledged before, and the service goes on', async () => {
    using temp = tempFolder()
    await using pages = await servePages()
    const file = temp.file('jobs.db')
    const service = await startService({ DATABASE_URL: `file:${file}` })
    const jobs = await Promise.all(
      CALLERS.map(async (caller) => {
        const targets = Array.from({ length: 32 }, (_, idx) => ({ url: `${pages.origin}/echo/${caller}/${idx}` }))
        const { status, body } = await service.submit({ targets }, caller)
        expect(status).toBe(202)
        return { caller, id: body.id }
      }),
    )
    await expect.poll(() => countDone(service, jobs), { timeout: 30_000 }).toBeGreaterThan(16)
    const acknowledged = await Promise.all(jobs.map(({ id, caller }) => service.get(id, caller)))
    const copied = await backUp(file, temp.file('copy.db'))
    expect(copied).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/: 8 jobs, \d+ bytes, checked\./),
    })
    await expect.poll(() => countDone(service, jobs), { timeout: 30_000 }).toBe(8 * 32)
    expect(await service.stop('SIGTERM')).toBe(0)

    copyFileSync(temp.file('copy.db'), temp.file('restored.db'))
    const restored = await startService({ DATABASE_URL: `file:${temp.file('restored.db')}` })
    for (const [position, { id, caller }] of jobs.entries()) {
      const job = await restored.get(id, caller)
      if (job.targets_done < 32) expect(job).toMatchObject({ status: 'failed', error: 'restart' })
      else expect(job.status).toBe('done')
      for (const { idx, status, result } of acknowledged[position]?.targets ?? []) {
        if (status === 'done') expect(job.targets[idx]).toMatchObject({ status: 'done', result })
      }
      for (const { url, result } of job.targets) if (result) expect(result.content).toBe(new URL(url).pathname)
    }
    expect(await restored.stop('SIGTERM')).toBe(0)
  })

  it('copies the database of a service that was killed, with what is only in its log', async () => {
    using temp = tempFolder()
    await using pages = await servePages()
    const service = await startService({ DATABASE_URL: `file:${temp.file('jobs.db')}` })
    const { body } = await service.submit({ targets: [{ url: `${pages.origin}/echo/a` }] })
    await expect.poll(() => countDone(service, [{ caller: 'alice', id: body.id }]), { timeout: 30_000 }).toBe(1)
    await service.stop('SIGKILL')
    expect(statSync(temp.file('jobs.db-wal')).size).toBeGreaterThan(0)
    expect(await backUp(temp.file('jobs.db'), temp.file('copy.db'))).toMatchObject({ code: 0 })
    expect(statSync(temp.file('copy.db')).mode & 0o077).toBe(0)

    const restored = await startService({ DATABASE_URL: `file:${temp.file('copy.db')}` })
    expect((await restored.get(body.id)).targets[0]?.result?.content).toBe('/echo/a')
    expect(await restored.stop('SIGTERM')).toBe(0)
  })

  it('copies the database of an older version, whose outcomes have no checksums', async () => {
    using temp = tempFolder()
    writeSchema3(temp.file('jobs.db'))
    const told = await backUp(temp.file('jobs.db'), temp.file('copy.db'))
    expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(/: 2 jobs, /) })
  })

  it('makes none of a database in which an outcome has changed, and names it', async () => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'))
    const { id } = (await store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job
    for (const idx of [0, 1]) await store.recordOutcome(id, idx, success('u', 'ABC'), 0, 1_000)
    await store.close()
    expect(await backUp(temp.file('jobs.db'), temp.file('whole.db'))).toMatchObject({ code: 0 })
    const db = new Database(temp.file('jobs.db'))
    db.exec(`UPDATE target SET outcome = replace(outcome, 'ABC', 'ABD') WHERE idx = 1`)
    db.close()
    const says = `There is no backup: the outcome of target 1 of job ${id} is damaged in the database.\n`
    expect(await backUp(temp.file('jobs.db'), temp.file('copy.db'))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: says,
    })
    expect(readdirSync(temp.folder).filter((name) => name.startsWith('copy'))).toEqual([])
  })

  it.each([
    ['with links', ''],
    ['without', NO_LINKS],
  ])('leaves a file alone that gets the name meanwhile, on a file system %s', async (_what, patch) => {
    using temp = tempFolder()
    await openSqliteStore(temp.file('jobs.db')).close()
    const appears = `const flush = fs.fsyncSync
      fs.fsyncSync = (file) => { fs.writeFileSync(${JSON.stringify(temp.file('copy.db'))}, 'theirs'); flush(file) }`
    const told = await backUp(temp.file('jobs.db'), temp.file('copy.db'), `${appears}\n${patch}`)
    expect(told).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/copy\.db exists already, and/) })
    expect(readFileSync(temp.file('copy.db'), 'utf8')).toBe('theirs')
    expect(readdirSync(temp.folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
  })

  it('needs no file system with links', async () => {
    using temp = tempFolder()
    await openSqliteStore(temp.file('jobs.db')).close()
    const told = await backUp(temp.file('jobs.db'), temp.file('copy.db'), NO_LINKS)
    expect(told).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(temp.folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
  })

  it.each<[string, number, RegExp, { from?: string; to?: string }]>([
    ['without a name', 2, /^Usage: npm run backup/, { to: '' }],
    ['of what is kept in memory', 2, /`:memory:`/, { from: ':memory:' }],
    ['over a file that exists', 1, /theirs exists already/, { to: 'theirs' }],
    ['of a database that does not exist', 1, /missing\.db does not exist/, { from: 'missing.db' }],
    ['of what is no database', 1, /^There is no backup: file is not a database/, { from: 'theirs' }],
    ['of a damaged database', 1, /^There is no backup: .*malformed/, { from: 'damaged.db' }],
    ['into a folder that does not exist', 1, /^There is no backup: .*missing/, { to: 'missing/copy.db' }],
  ])('says in one line why there is none %s, and leaves no part of one', async (_what, code, says, names) => {
    using temp = tempFolder()
    writeFileSync(temp.file('theirs'), 'These are notes, not a database. '.repeat(50))
    await openSqliteStore(temp.file('jobs.db')).close()
    copyFileSync(temp.file('jobs.db'), temp.file('damaged.db'))
    truncateSync(temp.file('damaged.db'), 20_480)
    const { from = 'jobs.db', to = 'copy.db' } = names
    const told = await backUp(from === ':memory:' ? from : temp.file(from), to && temp.file(to))
    expect(told).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(says) })
    expect(readdirSync(temp.folder).filter((name) => name.startsWith('copy'))).toEqual([])
  })
})

async function countDone(service: ServiceProcess, jobs: readonly { caller: string; id: string }[]): Promise<number> {
  const counts = await Promise.all(jobs.map(async ({ caller, id }) => (await service.get(id, caller)).targets_done))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** @param patch JavaScript that runs before the command, with `fs` to change. */
async function backUp(from: string, to: string, patch = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, DATABASE_URL: from === ':memory:' ? from : `file:${from}` }
  const program = `import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    ${patch}
    syncBuiltinESMExports()`
  const preload = `data:text/javascript,${encodeURIComponent(program)}`
  const args = ['--import', preload, 'scripts/backup.ts', ...(to === '' ? [] : [to])]
  return promisify(execFile)(process.execPath, args, { env }).then(
    (told) => ({ code: 0, ...told }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  )
}
