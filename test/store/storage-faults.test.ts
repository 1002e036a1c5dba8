import { execFileSync } from 'node:child_process'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'

import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { DEFAULT_LIMITS, withDefaults } from '../../src/jobs/limits.ts'
import type { JobStore } from '../../src/jobs/store.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { fakeClock } from '../helpers/fake-clock.ts'
import { fakeFetch, success } from '../helpers/fake-fetch.ts'
import { SCHEMA_3, writeSchema3 } from '../helpers/schema-3.ts'
import { assemble, buildService, targets } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { newJob } from './conformance.ts'

const UNAVAILABLE = { code: 'storage_unavailable' }
const MINUTE_MS = 60_000

describe('a database that is taken away while it is open', () => {
  it.each<[string, (file: string) => void]>([
    ['is deleted', (file) => rmSync(file)],
    ['is moved', (file) => renameSync(file, `${file}.moved`)],
    ['loses its log', (file) => rmSync(`${file}-wal`)],
    ['loses the index of its log', (file) => rmSync(`${file}-shm`)],
    [
      'is replaced by a copy',
      (file) => {
        copyFileSync(file, `${file}.copy`)
        renameSync(`${file}.copy`, file)
      },
    ],
  ])('acknowledges no change any more when it %s, and can still be read', async (_what, take) => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'))
    const { id } = (await store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job
    await store.recordOutcome(id, 0, success('u', 'A'), 0, 1_000)
    take(temp.file('jobs.db'))
    await expectRefusals(store, id)
    expect((await store.find(id, 'alice', 0))?.job).toMatchObject({ status: 'running', targetsDone: 1 })
    expect(JSON.parse(Buffer.from((await store.readOutcome(id, 0)) ?? []).toString())).toEqual(success('u', 'A'))
    await store.close()
  })

  it('takes changes again when it comes back, and has none of those that it refused', async () => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'))
    const { id } = (await store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job
    renameSync(temp.file('jobs.db'), temp.file('moved.db'))
    await expectRefusals(store, id)
    renameSync(temp.file('moved.db'), temp.file('jobs.db'))
    await store.probe()
    expect((await store.find(id, 'alice', 0))?.job).toMatchObject({ status: 'running', targetsDone: 0 })
    expect(await store.list('bob', 0, 9, undefined)).toEqual([])
    expect(await store.recordOutcome(id, 0, success('u', 'A'), 0, 1_000)).toBe('running')
    await store.close()
  })

  it('makes the service unready, tells the operator which file it is, and goes on with the outcome in flight', async () => {
    using temp = tempFolder()
    const lines: string[] = []
    await using service = await buildService({ file: temp.file('jobs.db'), log: { write: (line) => lines.push(line) } })
    const { body } = await service.submit(['a', 'b'])
    const call = await service.fetch.next()
    renameSync(temp.file('jobs.db'), temp.file('moved.db'))
    call.succeed('A')
    await expect.poll(() => lines.join('')).toContain('the store refused an outcome')
    expect(lines.join('')).toContain(`${temp.file('jobs.db')} was deleted, moved or replaced`)
    expect((await service.app.inject('/readyz')).json()).toMatchObject({ status: 503, ...UNAVAILABLE })
    const refused = await service.submit(['c'], 'bob')
    expect(refused).toMatchObject({ status: 503, body: UNAVAILABLE, headers: { 'retry-after': '5' } })
    expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets_done: 0 })

    renameSync(temp.file('moved.db'), temp.file('jobs.db'))
    service.clock.advance(1_000)
    await service.fetch.next().then((next) => next.succeed('B'))
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'done', targets_done: 2 })
    expect((await service.app.inject('/readyz')).statusCode).toBe(200)
    expect((await service.submit(['c'], 'bob')).status).toBe(202)
  })
})

describe('a database that is damaged while it is open', () => {
  it('is neither read nor written: every answer is 503, and the process goes on', async () => {
    using temp = tempFolder()
    const file = temp.file('jobs.db')
    await using service = await buildService({ file })
    const { body } = await service.submit(['a', 'b'])
    await service.fetch.next().then((call) => call.succeed('A'.repeat(20_000)))
    await service.fetch.peek()
    damage(file, overwritePages)

    const { app } = service
    for (const url of [`/jobs/${body.id}`, `/jobs/${body.id}/targets/0`, `/jobs/${body.id}/results`, '/jobs']) {
      const response = await app.inject({ url, headers: { 'x-caller-id': 'alice' } })
      expect(response.json(), url).toMatchObject({ status: 503, ...UNAVAILABLE })
    }
    expect(await service.submit(['c'], 'bob')).toMatchObject({ status: 503, body: UNAVAILABLE })
    expect(await service.cancel(body.id)).toMatchObject({ status: 503, body: UNAVAILABLE })
    expect((await app.inject('/readyz')).json()).toMatchObject({ status: 503, ...UNAVAILABLE })
    expect((await app.inject('/livez')).statusCode).toBe(200)
  })

  it('gives no outcome whose bytes are not those that were stored, and all others', async () => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'))
    const { id } = (await store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job
    await store.recordOutcome(id, 0, success('u', 'A'.repeat(20_000)), 0, 1_000)
    await store.recordOutcome(id, 1, success('u', 'B'.repeat(20_000)), 0, 1_000)
    damage(temp.file('jobs.db'), changeLetter)
    await expect(store.readOutcome(id, 0)).rejects.toMatchObject(UNAVAILABLE)
    expect(await store.readOutcome(id, 1)).toEqual(Buffer.from(JSON.stringify(success('u', 'B'.repeat(20_000)))))
    await store.close()
  })

  it('gives no job whose options are not what was stored', async () => {
    using temp = tempFolder()
    const store = openSqliteStore(temp.file('jobs.db'))
    const { id } = (await store.submit(newJob('alice', ['a']), DEFAULT_LIMITS, true)).snapshot.job
    const other = new Database(temp.file('jobs.db'))
    other.exec(`UPDATE target SET options = substr(options, 2)`)
    other.close()
    await expect(store.find(id, 'alice', 0)).rejects.toMatchObject(UNAVAILABLE)
    await expect(store.cancel(id, 'alice', 0)).rejects.toMatchObject(UNAVAILABLE)
    await store.close()
  })

  it('gives the outcomes from before there were checksums, and checks those that came later', async () => {
    using temp = tempFolder()
    writeSchema3(temp.file('jobs.db'))
    const store = openSqliteStore(temp.file('jobs.db'))
    const { ended, live, done, failed } = SCHEMA_3
    expect(await store.find(ended, 'alice', 0)).toMatchObject({
      job: { status: 'partial', targetsDone: 2, webhook: { url: 'https://hooks.example/', state: 'pending' } },
      targets: [{ customId: 'a', options: { mode: 'raw' } }, { status: 'failed' }],
    })
    expect(await store.nextWebhook({ exceptJobs: [], exceptCallers: [] })).toMatchObject({ messageId: 'message-1' })
    const later = success('u', 'A'.repeat(20_000))
    expect(await store.recordOutcome(live, 1, later, 0, 1_000)).toBe('done')
    const outcomes = [
      [ended, 0, done],
      [ended, 1, failed],
      [live, 0, done],
      [live, 1, JSON.stringify(later)],
    ] as const
    for (const [id, idx, text] of outcomes) expect(await store.readOutcome(id, idx)).toEqual(Buffer.from(text))
    damage(temp.file('jobs.db'), changeLetter)
    await expect(store.readOutcome(live, 1)).rejects.toMatchObject(UNAVAILABLE)
    expect(await store.readOutcome(live, 0)).toEqual(Buffer.from(done))
    await store.close()
  })
})

describe('a database that reaches its size', () => {
  it('keeps what it has acknowledged, fails what finds no room, ends the job, and recovers by a purge', async () => {
    using temp = tempFolder()
    const clock = fakeClock()
    const fetch = fakeFetch()
    const store = openSqliteStore(temp.file('jobs.db'), { bytesMax: 1_000_000 })
    const limits = withDefaults({ jobsPerCallerMax: 2, leaseMs: MINUTE_MS })
    const checkPrograms = async () => []
    const service = await assemble({ store, clock, fetchTarget: fetch.fetchTarget, checkPrograms, limits })
    fetch.answer((call) => call.succeed('x'.repeat(100_000)))
    const names = Array.from({ length: 12 }, (_, index) => `t${index}`)
    const { body } = await service.submit(names)
    const ended = service.runner.idle().then(() => true)
    while (!(await Promise.race([ended, turns(20)]))) clock.advance(30_000)

    const job = (await service.get(body.id)).body
    expect(job).toMatchObject({ status: 'partial', targets_done: 12 })
    const failed = job.targets.filter(({ error }) => error === 'no_room')
    const done = job.targets.filter(({ result }) => result?.content === 'x'.repeat(100_000))
    expect(failed.length + done.length).toBe(12)
    expect(done.length).toBeGreaterThan(5)
    expect(failed.length).toBeGreaterThan(0)
    const large = { targets: targets(...names).map(({ url }) => ({ url: `${url}${'p'.repeat(8_000)}` })) }
    expect(await service.submit(large, 'bob')).toMatchObject({ status: 503, body: { code: 'storage_full' } })

    clock.advance(MINUTE_MS)
    fetch.answer((call) => call.succeed('small'))
    expect(await store.purgeExpired(clock.now())).toBe(1)
    expect((await service.submit(large, 'bob')).status).toBe(202)
    await service.runner.idle()
    await service.app.close()
    await store.close()
  })
})

describe('another process that writes to the database for three seconds', () => {
  it('delays submissions and outcomes, and nothing fails or is lost', async () => {
    using temp = tempFolder()
    await using service = await buildService({ file: temp.file('jobs.db') })
    const { body } = await service.submit(['a'])
    const call = await service.fetch.next()
    const other = new Database(temp.file('jobs.db'))
    other.exec('BEGIN IMMEDIATE')
    call.succeed('A')
    const submitted = service.submit(['b'], 'bob')
    // Each turn in which the service tries to write takes the second that SQLite waits.
    for (let turn = 0; turn < 4; turn++) await setImmediate()
    other.exec('COMMIT')
    other.close()
    expect((await submitted).status).toBe(202)
    await service.fetch.next().then((next) => next.succeed('B'))
    await service.runner.idle()
    expect((await service.get(body.id)).body).toMatchObject({ status: 'done', targets: [{ result: { content: 'A' } }] })
  })
})

async function expectRefusals(store: JobStore, id: string): Promise<void> {
  const changes = [
    () => store.submit(newJob('bob', ['c']), DEFAULT_LIMITS, true),
    () => store.recordOutcome(id, 1, success('u', 'B'), 0, 1_000),
    () => store.cancel(id, 'alice', 0),
    () => store.fail(id, 0),
    () => store.purgeExpired(9_999),
    () => store.probe(),
  ]
  for (const change of changes) await expect(change()).rejects.toMatchObject(UNAVAILABLE)
  const together = await Promise.allSettled(changes.map((change) => change()))
  expect(together.map(({ status }) => status)).toEqual(changes.map(() => 'rejected'))
}

/** Lets `change` change the file in another process, and makes the service read anew what it has cached. */
function damage(file: string, change: (file: string, pages: number) => void): void {
  const other = new Database(file)
  other.pragma('wal_checkpoint(TRUNCATE)')
  change(file, Number(other.pragma('page_count', { simple: true })))
  other.pragma(`user_version = ${String(other.pragma('user_version', { simple: true }))}`)
  other.close()
}

/** Nonsense in all pages but the first. */
function overwritePages(file: string, pages: number): void {
  const to = [`of=${file}`, 'bs=4096', 'seek=1', `count=${pages - 1}`, 'conv=notrunc']
  execFileSync('dd', ['if=/dev/urandom', ...to], { stdio: 'ignore' })
}

/** Another letter in the middle of a text. */
function changeLetter(file: string): void {
  const program = `const fs = require('node:fs')
    const at = fs.readFileSync(process.argv[1]).lastIndexOf('A'.repeat(500))
    fs.writeSync(fs.openSync(process.argv[1], 'r+'), 'Z', at)`
  execFileSync(process.execPath, ['-e', program, file])
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
