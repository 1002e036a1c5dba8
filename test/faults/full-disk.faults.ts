import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { withDefaults } from '../../src/jobs/limits.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { fakeClock } from '../helpers/fake-clock.ts'
import { fakeFetch } from '../helpers/fake-fetch.ts'
import { hasProgram } from '../helpers/has-program.ts'
import { assemble, numbered } from '../helpers/service.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const LEASE_MS = 3_600_000
const CONTENT = 'x'.repeat(500_000)

it('a disk that the store fills: nothing acknowledged is lost, jobs end, and a purge makes it take jobs again', async () => {
  await using disk = await serviceOnDisk(48)
  const { service, fetch, clock, store } = disk
  fetch.answer((call) => call.succeed(CONTENT))
  const jobs = []
  for (let count = 0; count < 4; count++) {
    const { status, body } = await service.submit(numbered(32), `caller-${count}`)
    if (status !== 202) break
    jobs.push({ id: body.id, caller: `caller-${count}` })
    await disk.drained()
  }
  const views = await Promise.all(jobs.map(async ({ id, caller }) => (await service.get(id, caller)).body))
  const outcomes = views.flatMap(({ targets }) => targets)
  expect(outcomes.filter(({ result }) => result?.content === CONTENT).length).toBeGreaterThan(32)
  expect(outcomes.filter(({ error }) => error === 'no_room').length).toBeGreaterThan(0)
  expect(outcomes.filter(({ result, error }) => result?.content !== CONTENT && error !== 'no_room')).toEqual([])
  expect(views.map(({ status }) => status)).not.toContain('running')

  const live = await service.submit(['last'], 'carol')
  if (live.status === 202) expect((await service.cancel(live.body.id, 'carol')).status).toBe(200)
  await disk.drained()
  clock.advance(LEASE_MS)
  expect(await store.purgeExpired(clock.now())).toBeGreaterThanOrEqual(jobs.length)
  const { body } = await service.submit(numbered(8), 'bob')
  await service.runner.idle()
  expect((await service.get(body.id, 'bob')).body).toMatchObject({ status: 'done', targets_done: 8 })
})

it('a disk that another program fills: refusals and no loss, and all goes on when there is room', async () => {
  await using disk = await serviceOnDisk(48)
  const { service, fetch, clock } = disk
  const { body } = await service.submit(['a', 'b'])
  const call = await fetch.next()
  const foreign = disk.fill()
  call.succeed(CONTENT)
  await turns(20)
  clock.advance(120_000)
  await turns(20)
  expect((await service.app.inject('/readyz')).json()).toMatchObject({ status: 503, code: 'storage_full' })
  const refused = await service.submit(['c'], 'bob')
  expect(refused).toMatchObject({ status: 503, body: { code: 'storage_full' }, headers: { 'retry-after': '5' } })
  expect((await service.get(body.id)).body).toMatchObject({ status: 'running', targets_done: 0 })

  rmSync(foreign)
  clock.advance(30_000)
  await fetch.next().then((next) => next.succeed('B'))
  await service.runner.idle()
  expect((await service.get(body.id)).body).toMatchObject({
    status: 'done',
    targets: [{ result: { content: CONTENT } }, {}],
  })
  expect((await service.app.inject('/readyz')).statusCode).toBe(200)
  expect((await service.submit(['c'], 'bob')).status).toBe(202)
})

/** The service with a fake clock and a real store on a disk of its own, of so many MiB. */
async function serviceOnDisk(mebibytes: number) {
  if (process.getuid?.() !== 0 || !hasProgram('mount'))
    throw new Error('This test mounts a tmpfs: run it as root on Linux.')
  const temp = tempFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', temp.folder])
  const store = openSqliteStore(temp.file('jobs.db'))
  const clock = fakeClock()
  const fetch = fakeFetch()
  const limits = withDefaults({ leaseMs: LEASE_MS })
  const checkPrograms = async () => []
  const service = await assemble({ store, clock, fetchTarget: fetch.fetchTarget, checkPrograms, limits })
  return {
    service,
    store,
    clock,
    fetch,
    /** Lets the time pass until no job is live: outcomes that find no room wait for it. */
    async drained() {
      const ended = service.runner.idle().then(() => true)
      while (!(await Promise.race([ended, turns(20)]))) clock.advance(30_000)
    },
    /** Takes every byte that is left. @returns the file that has them. */
    fill() {
      const name = temp.file('foreign')
      const handle = openSync(name, 'w')
      for (const bytes of [1_048_576, 4_096]) {
        try {
          for (;;) writeSync(handle, Buffer.alloc(bytes))
        } catch {
          // No room for that many bytes any more.
        }
      }
      closeSync(handle)
      return name
    },
    async [Symbol.asyncDispose]() {
      const stopped = service.runner.close(0)
      clock.advance(0) // Ends the grace.
      await stopped
      await service.app.close()
      await store.close()
      execFileSync('umount', [temp.folder])
      temp[Symbol.dispose]()
    },
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
