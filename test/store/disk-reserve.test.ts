import fs, { readdirSync, statSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

import { expect, it, vi } from 'vitest'

import { DEFAULT_LIMITS } from '../../src/jobs/limits.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { success } from '../helpers/fake-fetch.ts'
import { numbered } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { newJob } from './conformance.ts'

const MEBIBYTE = 1_048_576
const LIMITS = { ...DEFAULT_LIMITS, jobsPerCallerMax: 99, jobsTotalMax: 99 }

it('takes jobs and contents until the disk has its reserve left, whatever the log keeps of what is in the database', async () => {
  using disk = smallDisk(160 * MEBIBYTE)
  const store = openSqliteStore(disk.file('jobs.db'))
  const add = async (caller: string) =>
    (await store.submit(newJob(caller, numbered(32)), LIMITS, false)).snapshot.job.id
  const ids = await Promise.all(numbered(8).map(add))
  const large = success('u', 'x'.repeat(5 * MEBIBYTE))
  await Promise.all(ids.map((id) => store.recordOutcome(id, 0, large, 0, 10)))
  expect(statSync(disk.file('jobs.db-wal')).size).toBeGreaterThan(40 * MEBIBYTE)
  disk.take(60 * MEBIBYTE) // By another program.
  await store.probe()
  const last = await add('last')

  const smaller = success('u', 'x'.repeat(2 * MEBIBYTE))
  let stored = 0
  const fill = async () => {
    for (; stored < 32; stored++) await store.recordOutcome(last, stored, smaller, 0, 10)
  }
  await expect(fill()).rejects.toMatchObject({ code: 'storage_full' })
  expect(stored).toBeGreaterThan(8)
  expect(disk.free()).toBeLessThan((8 + 4.1) * MEBIBYTE) // A content is in the log and in the database for a while.
  expect(disk.free()).toBeGreaterThan(8 * MEBIBYTE)

  const failure = { failure: { error: 'http_404', message: 'Gone.', hint: 'Look elsewhere.' } }
  expect(await store.recordOutcome(last, stored, failure, 0, 10)).toBe('running')
  for (const id of [...ids, last]) await store.fail(id, 0)
  expect(await store.purgeExpired(10)).toBe(9)
  expect(await store.recordOutcome(await add('later'), 0, large, 0, 10)).toBe('running')
  await store.close()
})

it('keeps each write of a turn in which one finds no room', async () => {
  using disk = smallDisk(24 * MEBIBYTE)
  const store = openSqliteStore(disk.file('jobs.db'))
  const { id } = (await store.submit(newJob('alice', numbered(3)), LIMITS, false)).snapshot.job
  const answers = await Promise.allSettled([
    store.recordOutcome(id, 0, success('u', 'A'), 0, 10),
    store.recordOutcome(id, 1, success('u', 'x'.repeat(9 * MEBIBYTE)), 0, 10),
    store.recordOutcome(id, 2, success('u', 'C'), 0, 10),
  ])
  expect(answers).toMatchObject([{ value: 'running' }, { reason: { code: 'storage_full' } }, { value: 'running' }])
  expect((await store.find(id, 'alice', 0))?.job.targetsDone).toBe(2)
  await store.close()
})

/** A folder on a file system that seems to have `bytes`, of which the files in the folder take theirs. */
function smallDisk(bytes: number) {
  const temp = tempFolder()
  let taken = 0
  const free = () =>
    readdirSync(temp.folder).reduce((left, name) => left - statSync(temp.file(name)).size, bytes - taken)
  const { statfsSync } = fs
  const statfs = vi.spyOn(fs, 'statfsSync')
  statfs.mockImplementation(() => Object.assign(statfsSync(temp.folder), { blocks: bytes, bavail: free(), bsize: 1 }))
  syncBuiltinESMExports()
  return {
    file: temp.file,
    free,
    take: (by: number) => (taken += by),
    [Symbol.dispose]() {
      statfs.mockRestore()
      syncBuiltinESMExports()
      temp[Symbol.dispose]()
    },
  }
}
