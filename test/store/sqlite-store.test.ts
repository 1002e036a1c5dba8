import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { DEFAULT_LIMITS } from '../../src/jobs/limits.ts'
import { openDatabase } from '../../src/store/open.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { success } from '../helpers/fake-fetch.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { describeJobStore, newJob } from './conformance.ts'

describeJobStore('SQLite in a file', async () => {
  const temp = tempFolder()
  let store = openSqliteStore(temp.file('jobs.db'))
  return {
    store,
    async reopen() {
      await store.close()
      store = openSqliteStore(temp.file('jobs.db'))
      return store
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      temp[Symbol.dispose]()
    },
  }
})

describe('SQLite', () => {
  it('writes through to the disk before it answers, in WAL mode, and guards its schema', () => {
    using temp = tempFolder()
    const { db, close } = openDatabase(temp.file('jobs.db'))
    const pragma = (name: string) => db.pragma(name, { simple: true })
    expect(pragma('synchronous')).toBe(2)
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('fullfsync')).toBe(1)
    expect(pragma('foreign_keys')).toBe(1)
    expect(pragma('trusted_schema')).toBe(0)
    expect(pragma('auto_vacuum')).toBe(2)
    expect(pragma('secure_delete')).toBe(2)
    expect(pragma('journal_size_limit')).toBe(67_108_864)
    expect(pragma('user_version')).toBe(4)
    expect(pragma('application_id')).toBe(0x70_67_68_61)
    close()
  })

  it.each([
    ['live jobs', 'SELECT id FROM job WHERE finished_at IS NULL', 'job_live'],
    [
      'the next job to purge',
      'SELECT n FROM job WHERE finished_at IS NOT NULL AND expires_at <= 1 ORDER BY expires_at LIMIT 1',
      'job_expired',
    ],
    ['a submission', 'SELECT n FROM job WHERE key = 1', 'job_key'],
    [
      'the next webhook',
      'SELECT id FROM webhook JOIN job ON job.n = webhook.job WHERE due_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(1)) ORDER BY due_at LIMIT 1',
      'webhook_due',
    ],
    ['a page of the list', `SELECT id FROM job WHERE caller = 'a' AND id < 'x' ORDER BY id DESC LIMIT 1`, 'job_caller'],
  ])('finds %s by an index', (_what, query, index) => {
    const { db, close } = openDatabase(':memory:')
    const plan = db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`).all()
    expect(plan.map(({ detail }) => detail).join()).toContain(index)
    expect(plan.map(({ detail }) => detail).join()).not.toContain('TEMP B-TREE')
    close()
  })

  it('commits the outcomes of one turn together', async () => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'))
    const limits = { ...DEFAULT_LIMITS, jobsTotalMax: 99 }
    const callers = Array.from({ length: 30 }, (_, index) => `caller-${index}`)
    const submitted = await Promise.all(callers.map((caller) => store.submit(newJob(caller, ['a']), limits, true)))
    const reader = new Database(temp.file('jobs.db'), { readonly: true })
    const commits = () => Number(reader.pragma('data_version', { simple: true }))
    const count = reader.prepare('SELECT count(*) FROM target WHERE outcome IS NOT NULL').pluck()
    const before = commits()
    const seen = new Set<unknown>()
    await Promise.all(
      submitted.map(async ({ snapshot }) => {
        await store.recordOutcome(snapshot.job.id, 0, success('u', 'A'), 0, 1_000)
        seen.add(count.get())
      }),
    )
    expect([...seen]).toEqual([30])
    expect(commits()).not.toBe(before)
    reader.close()
    await store.close()
  })

  it('keeps the other outcomes of a turn when one is refused', async () => {
    const store = openSqliteStore(':memory:')
    const { id } = (await store.submit(newJob('alice', ['a', 'b', 'c']), DEFAULT_LIMITS, true)).snapshot.job
    const answers = await Promise.allSettled([
      store.recordOutcome(id, 0, success('u', 'A'), 0, 1_000),
      store.recordOutcome(id, 0, success('u', 'again'), 0, 1_000),
      store.recordOutcome(id, 1, success('u', 'B'), 0, 1_000),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await store.find(id, 'alice', 0))?.job.targetsDone).toBe(2)
    await store.close()
  })

  it('answers `storage_full` when full, loses nothing it has acknowledged, and recovers by a purge', async () => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'), { bytesMax: 1_000_000 })
    const limits = { ...DEFAULT_LIMITS, jobsPerCallerMax: 99, jobsTotalMax: 99 }
    const names = Array.from({ length: 32 }, (_, index) => `t${index}`)
    const { id } = (await store.submit(newJob('alice', names), limits, true)).snapshot.job
    const content = 'x'.repeat(100_000)
    let stored = 0
    const fill = async () => {
      for (; stored < 32; stored++) await store.recordOutcome(id, stored, success('u', content), 0, 10)
    }
    await expect(fill()).rejects.toMatchObject({ code: 'storage_full' })
    expect(stored).toBeGreaterThan(5)
    await expect(submitUntilFull(store, limits)).rejects.toMatchObject({ code: 'storage_full' })

    for (let idx = 0; idx < stored; idx++) {
      const outcome = JSON.parse(Buffer.from((await store.readOutcome(id, idx)) ?? []).toString()) as {
        result: { content: string }
      }
      expect(outcome.result.content).toBe(content)
    }
    await store.fail(id, 0)
    expect((await store.find(id, 'alice', 0))?.job).toMatchObject({
      status: 'failed',
      error: 'internal',
      targetsDone: stored,
    })
    expect(await store.purgeExpired(10)).toBe(1)
    expect((await store.submit(newJob('bob', ['later']), limits, true)).created).toBe(true)
    await store.close()
  })

  it('waits for another process that writes, such as a repair, and loses nothing', async () => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'))
    const { id } = (await store.submit(newJob('alice', ['a']), DEFAULT_LIMITS, true)).snapshot.job
    const other = new Database(temp.file('jobs.db'))
    other.exec('BEGIN IMMEDIATE')
    const recorded = store.recordOutcome(id, 0, success('u', 'A'), 0, 1_000)
    let turns = 0
    const release = () => {
      if (++turns < 2) setImmediate(release)
      else other.exec('COMMIT')
    }
    setImmediate(release)
    expect(await recorded).toBe('done')
    other.close()
    await store.close()
  })
})

async function submitUntilFull(
  store: ReturnType<typeof openSqliteStore>,
  limits: typeof DEFAULT_LIMITS,
): Promise<never> {
  for (;;)
    await store.submit(
      newJob(
        `caller-${Math.random()}`,
        Array.from({ length: 32 }, (_, i) => `${'u'.repeat(60)}${i}`),
      ),
      limits,
      true,
    )
}
