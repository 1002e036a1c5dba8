import { randomUUIDv7 } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import type { Outcome } from '../../src/jobs/fetch-target.ts'
import { DEFAULT_LIMITS } from '../../src/jobs/limits.ts'
import { isFinal } from '../../src/jobs/states.ts'
import type { JobStore, NewJob } from '../../src/jobs/store.ts'
import { success } from '../helpers/fake-fetch.ts'

const LEASE_MS = 1_000
const FAILURE: Outcome = { failure: { error: 'http_404', message: 'Gone.', hint: 'Look elsewhere.' } }

interface Opened {
  readonly store: JobStore
  /** Ends as a process does that is killed, and opens the same data again. */
  reopen(): Promise<JobStore>
  [Symbol.asyncDispose](): Promise<void>
}

/** What every `JobStore` must do, in the words of its contract. Knows no engine. */
export function describeJobStore(name: string, open: () => Promise<Opened>): void {
  describe(`JobStore on ${name}`, () => {
    it('creates a running job with its targets in order', async () => {
      await using opened = await open()
      const { snapshot, created } = await opened.store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)
      expect(created).toBe(true)
      expect(snapshot.job).toMatchObject({
        caller: 'alice',
        status: 'running',
        targetsTotal: 2,
        targetsDone: 0,
        startedAt: 0,
      })
      expect(snapshot.job.finishedAt).toBeUndefined()
      expect(snapshot.targets).toEqual([
        { idx: 0, url: 'https://a.example/', customId: 'a', options: { mode: 'raw' }, status: 'pending' },
        { idx: 1, url: 'https://b.example/', customId: 'b', options: { mode: 'raw' }, status: 'pending' },
      ])
    })

    it('returns the newest job of the same key while its lease lasts, unless a fresh one is asked for', async () => {
      await using opened = await open()
      const { store } = opened
      const limits = { ...DEFAULT_LIMITS, jobsPerCallerMax: 9 }
      const first = newJob('alice', ['a'])
      await store.submit(first, limits, true)
      const submitAt = async (createdAt: number, reuse: boolean) => {
        const answer = await store.submit(
          { ...newJob('alice', ['a']), createdAt, expiresAt: createdAt + LEASE_MS },
          limits,
          reuse,
        )
        return answer.snapshot.job.id
      }
      expect(await submitAt(LEASE_MS - 1, true)).toBe(first.id)
      const fresh = await submitAt(LEASE_MS - 1, false)
      expect(fresh).not.toBe(first.id)
      expect(await submitAt(LEASE_MS, true)).toBe(fresh)
      expect([first.id, fresh]).not.toContain(await submitAt(2 * LEASE_MS - 1, true))
    })

    it('makes one of many equal submissions, and lets none of many unequal ones past the caps', async () => {
      await using opened = await open()
      const { store } = opened
      const equal = await Promise.all(
        Array.from({ length: 20 }, () => store.submit(newJob('alice', ['a']), DEFAULT_LIMITS, true)),
      )
      expect(equal.filter(({ created }) => created)).toHaveLength(1)
      expect(new Set(equal.map(({ snapshot }) => snapshot.job.id)).size).toBe(1)
      const callers = Array.from({ length: 20 }, (_, index) => `caller-${index}`)
      const unequal = await Promise.allSettled(
        callers.map((caller) => store.submit(newJob(caller, ['b']), DEFAULT_LIMITS, true)),
      )
      expect(unequal.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
      for (const refused of unequal.filter((answer) => answer.status === 'rejected')) {
        expect(refused.reason).toMatchObject({ code: 'jobs_busy', members: { limit: 8 } })
      }
    })

    it.each<{ outcomes: Outcome[]; status: string; failed: number }>([
      { outcomes: [success('u', 'A'), success('u', 'B')], status: 'done', failed: 0 },
      { outcomes: [success('u', 'A'), FAILURE], status: 'partial', failed: 1 },
      { outcomes: [FAILURE, FAILURE], status: 'failed', failed: 2 },
    ])('counts outcomes, moves the lease, and ends as $status with the last', async ({ outcomes, status, failed }) => {
      await using opened = await open()
      const { store } = opened
      const { id } = (await store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job
      for (const [idx, outcome] of outcomes.entries()) {
        const answered = await store.recordOutcome(id, idx, outcome, 10 + idx, 5_000 + idx)
        expect(answered).toBe(idx === 0 ? 'running' : status)
        const job = (await store.find(id, 'alice', 0))?.job
        expect(job).toMatchObject({ status: answered, targetsDone: idx + 1, expiresAt: 5_000 + idx })
        expect(job?.finishedAt).toBe(idx === 0 ? undefined : 11)
      }
      expect((await store.find(id, 'alice', 0))?.job).toMatchObject({ targetsFailed: failed, error: undefined })
    })

    it('keeps an outcome byte for byte, whatever is in it, and never takes a second one', async () => {
      await using opened = await open()
      const { store } = opened
      const content = 'ünï \u0000 \u2028 𠮷 "quoted" \\ \ud83d\ude00'
      const { id } = (await store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job
      const outcome = success('https://a.example/', content)
      await store.recordOutcome(id, 0, outcome, 1, LEASE_MS)
      await expect(store.recordOutcome(id, 0, FAILURE, 2, LEASE_MS)).rejects.toThrow('one outcome per target')
      const stored = await store.readOutcome(id, 0)
      expect(Buffer.from(stored ?? []).toString()).toBe(JSON.stringify(outcome))
      await store.recordOutcome(id, 1, FAILURE, 3, LEASE_MS)
      expect(JSON.parse(Buffer.from((await store.readOutcome(id, 1)) ?? []).toString())).toEqual({
        error: 'http_404',
        message: 'Gone.',
        hint: 'Look elsewhere.',
      })
      expect(await store.readOutcome(id, 2)).toBeUndefined()
    })

    it('takes the target in flight of a cancelled job, whose status stays', async () => {
      await using opened = await open()
      const { store } = opened
      const { id } = (await store.submit(newJob('alice', ['a']), DEFAULT_LIMITS, true)).snapshot.job
      expect((await store.cancel(id, 'alice', 5))?.job).toMatchObject({ status: 'cancelled', finishedAt: 5 })
      expect(await store.recordOutcome(id, 0, success('u', 'A'), 6, LEASE_MS)).toBe('cancelled')
      expect((await store.find(id, 'alice', 0))?.job).toMatchObject({
        status: 'cancelled',
        finishedAt: 5,
        targetsDone: 1,
      })
    })

    it.each(['cancel', 'outcome'])(
      'lets the %s win that comes first on the last target, in one turn',
      async (first) => {
        await using opened = await open()
        const { store } = opened
        const { id } = (await store.submit(newJob('alice', ['a']), DEFAULT_LIMITS, true)).snapshot.job
        const cancel = () => store.cancel(id, 'alice', 5).then((snapshot) => snapshot?.job.status)
        const record = () => store.recordOutcome(id, 0, success('u', 'A'), 5, LEASE_MS)
        const answers = await Promise.all(first === 'cancel' ? [cancel(), record()] : [record(), cancel()])
        const status = first === 'cancel' ? 'cancelled' : 'done'
        expect(answers).toEqual([status, status])
        expect((await store.find(id, 'alice', 0))?.job).toMatchObject({ status, targetsDone: 1 })
      },
    )

    it('leaves a final job as it is, and what is not the caller’s alone', async () => {
      await using opened = await open()
      const { store } = opened
      const { id } = (await store.submit(newJob('alice', ['a']), DEFAULT_LIMITS, true)).snapshot.job
      expect(await store.cancel(id, 'bob', 5)).toBeUndefined()
      expect(await store.find(id, 'bob', 0)).toBeUndefined()
      await store.recordOutcome(id, 0, success('u', 'A'), 5, LEASE_MS)
      await store.fail(id, 6)
      expect((await store.cancel(id, 'alice', 7))?.job).toMatchObject({
        status: 'done',
        finishedAt: 5,
        error: undefined,
      })
      expect(await store.failInterrupted(8)).toBe(0)
    })

    it('fails what a dead process left live, and keeps its outcomes', async () => {
      await using opened = await open()
      const live = (await opened.store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job.id
      const done = (await opened.store.submit(newJob('bob', ['a']), DEFAULT_LIMITS, true)).snapshot.job.id
      await opened.store.recordOutcome(live, 0, success('u', 'A'), 1, LEASE_MS)
      await opened.store.recordOutcome(done, 0, success('u', 'B'), 1, LEASE_MS)
      const store = await opened.reopen()
      expect(await store.failInterrupted(9)).toBe(1)
      expect((await store.find(live, 'alice', 0))?.job).toMatchObject({
        status: 'failed',
        error: 'restart',
        finishedAt: 9,
        targetsDone: 1,
      })
      expect(await store.readOutcome(live, 0)).toBeDefined()
      expect((await store.find(done, 'bob', 0))?.job.status).toBe('done')
    })

    it('lists the jobs of a caller, newest first, in pages', async () => {
      await using opened = await open()
      const { store } = opened
      const limits = { ...DEFAULT_LIMITS, jobsPerCallerMax: 9, jobsTotalMax: 99 }
      const ids: string[] = []
      for (const name of ['a', 'b', 'c', 'd']) {
        ids.unshift((await store.submit(newJob('alice', [name]), limits, true)).snapshot.job.id)
        await store.submit(newJob('bob', [name]), limits, true)
      }
      const page = async (limit: number, after?: string) =>
        (await store.list('alice', 0, limit, after)).map(({ id }) => id)
      expect(await page(9)).toEqual(ids)
      expect(await page(2)).toEqual(ids.slice(0, 2))
      expect(await page(2, ids[1])).toEqual(ids.slice(2))
      expect(await page(2, ids[3])).toEqual([])
    })

    it('hides and purges final jobs whose lease has ended, and no others', async () => {
      await using opened = await open()
      const { store } = opened
      const limits = { ...DEFAULT_LIMITS, jobsPerCallerMax: 9 }
      const final = (await store.submit(newJob('alice', ['a']), limits, true)).snapshot.job.id
      const live = (await store.submit(newJob('alice', ['b']), limits, true)).snapshot.job.id
      await store.recordOutcome(final, 0, success('u', 'A'), 0, 100)
      expect(await store.purgeExpired(99)).toBe(0)
      expect(await store.find(final, 'alice', 99)).toBeDefined()
      expect(await store.find(final, 'alice', 100)).toBeUndefined()
      expect((await store.list('alice', 100, 9, undefined)).map(({ id }) => id)).toEqual([live])
      expect(await store.cancel(final, 'alice', 100)).toBeUndefined()
      expect(await store.purgeExpired(9_999)).toBe(1)
      expect(await store.readOutcome(final, 0)).toBeUndefined()
      expect(await store.find(live, 'alice', 9_999)).toBeDefined()
    })

    it('stops between two jobs when it is told to, and removes the rest the next time', async () => {
      await using opened = await open()
      const { store } = opened
      for (const name of ['a', 'b', 'c']) {
        const { id } = (await store.submit(newJob('alice', [name]), DEFAULT_LIMITS, true)).snapshot.job
        await store.cancel(id, 'alice', 0)
      }
      const stop = new AbortController()
      const purged = store.purgeExpired(LEASE_MS, stop.signal)
      stop.abort()
      expect(await purged).toBe(1)
      expect(await store.purgeExpired(LEASE_MS, stop.signal)).toBe(0)
      expect(await store.purgeExpired(LEASE_MS)).toBe(2)
    })

    it('tells the worker of a job that is gone', async () => {
      await using opened = await open()
      const { store } = opened
      const { id } = (await store.submit(newJob('alice', ['a', 'b']), DEFAULT_LIMITS, true)).snapshot.job
      await store.cancel(id, 'alice', 0)
      expect(await store.purgeExpired(LEASE_MS)).toBe(1)
      expect(await store.recordOutcome(id, 0, success('u', 'A'), LEASE_MS, LEASE_MS)).toBeUndefined()
    })

    it('never shows counts that do not add up, whatever happens in one turn', async () => {
      await using opened = await open()
      const { store } = opened
      const limits = { ...DEFAULT_LIMITS, jobsTotalMax: 99 }
      const callers = Array.from({ length: 20 }, (_, index) => `caller-${index}`)
      const ids = await Promise.all(
        callers.map(
          async (caller) => (await store.submit(newJob(caller, ['a', 'b', 'c']), limits, true)).snapshot.job.id,
        ),
      )
      for (const idx of [0, 1, 2]) {
        await Promise.all(
          ids.flatMap((id, index) => [
            store.recordOutcome(id, idx, (index + idx) % 3 === 0 ? FAILURE : success('u', 'A'), idx, LEASE_MS),
            ...(index % 4 === idx ? [store.cancel(id, callers[index] ?? '', idx)] : []),
          ]),
        )
        for (const [index, id] of ids.entries()) {
          const snapshot = await store.find(id, callers[index] ?? '', 0)
          const statuses = snapshot?.targets.map(({ status }) => status) ?? []
          expect(snapshot?.job.targetsDone).toBe(statuses.filter((status) => status !== 'pending').length)
          expect(snapshot?.job.targetsFailed).toBe(statuses.filter((status) => status === 'failed').length)
          expect(snapshot?.job.finishedAt !== undefined).toBe(isFinal(snapshot?.job.status ?? 'queued'))
        }
      }
    })

    describe('a webhook', () => {
      const ALL = { exceptJobs: [], exceptCallers: [] }
      const WEBHOOK = { url: 'https://hooks.example/', messageId: 'msg_1' }
      const limits = { ...DEFAULT_LIMITS, jobsPerCallerMax: 9 }
      const submit = async (store: JobStore, caller: string, names = ['a'], messageId = 'msg_1') => {
        const job = { ...newJob(caller, names), webhook: { ...WEBHOOK, messageId } }
        return (await store.submit(job, limits, true)).snapshot.job
      }

      it.each<{ how: string; end: (store: JobStore, id: string) => Promise<unknown> }>([
        {
          how: 'the last outcome',
          end: (store, id) => store.recordOutcome(id, 0, success('u', 'A'), 7, LEASE_MS),
        },
        { how: 'a cancel', end: (store, id) => store.cancel(id, 'alice', 7) },
        { how: 'a crash', end: (store, id) => store.fail(id, 7) },
        { how: 'a restart', end: (store) => store.failInterrupted(7) },
      ])('becomes due when $how ends its job, and not before', async ({ end }) => {
        await using opened = await open()
        const { store } = opened
        const { id, webhook } = await submit(store, 'alice')
        expect(webhook).toEqual({ url: WEBHOOK.url, state: 'pending', attempts: 0, lastError: undefined })
        expect(await store.nextWebhook(ALL)).toBeUndefined()
        await end(store, id)
        const { job } = (await store.find(id, 'alice', 0)) ?? {}
        expect(await store.nextWebhook(ALL)).toEqual({ job, webhook, messageId: 'msg_1', dueAt: 7 })
      })

      it('stays that of the first submission, with or without one', async () => {
        await using opened = await open()
        const { store } = opened
        const { id } = await submit(store, 'alice')
        const without = await store.submit(newJob('alice', ['a']), limits, true)
        expect(without.snapshot.job).toMatchObject({ id, webhook: { url: WEBHOOK.url } })
        await store.submit(newJob('bob', ['a']), limits, true)
        expect((await submit(store, 'bob')).webhook).toBeUndefined()
      })

      it('is kept with its attempts over a restart', async () => {
        await using opened = await open()
        const { id } = await submit(opened.store, 'alice')
        await opened.store.cancel(id, 'alice', 7)
        await opened.store.recordWebhook(id, { state: 'pending', dueAt: 50, lastError: 'http_500: No.' })
        const store = await opened.reopen()
        expect(await store.nextWebhook(ALL)).toMatchObject({
          webhook: { url: WEBHOOK.url, state: 'pending', attempts: 1, lastError: 'http_500: No.' },
          messageId: 'msg_1',
          dueAt: 50,
        })
        await store.recordWebhook(id, { state: 'delivered', dueAt: undefined, lastError: undefined })
        expect(await store.nextWebhook(ALL)).toBeUndefined()
        const webhook = { url: WEBHOOK.url, state: 'delivered', attempts: 2, lastError: undefined }
        expect((await store.find(id, 'alice', 0))?.job.webhook).toEqual(webhook)
        expect((await store.list('alice', 0, 9, undefined))[0]?.webhook).toEqual(webhook)
      })

      it('comes in the order of what is due, without those that are passed over', async () => {
        await using opened = await open()
        const { store } = opened
        const first = await submit(store, 'alice', ['a'], 'first')
        const second = await submit(store, 'alice', ['b'], 'second')
        const third = await submit(store, 'bob', ['c'], 'third')
        await store.cancel(second.id, 'alice', 20)
        await store.cancel(third.id, 'bob', 30)
        await store.cancel(first.id, 'alice', 10)
        const next = async (exceptJobs: string[], exceptCallers: string[] = []) =>
          (await store.nextWebhook({ exceptJobs, exceptCallers }))?.messageId
        expect(await next([])).toBe('first')
        expect(await next([first.id])).toBe('second')
        expect(await next([first.id, second.id])).toBe('third')
        expect(await next([], ['alice'])).toBe('third')
        expect(await next([third.id], ['alice'])).toBeUndefined()
        await store.recordWebhook(first.id, { state: 'pending', dueAt: 40, lastError: 'x: y' })
        expect(await next([])).toBe('second')
      })

      it('goes with its job when that is purged, also while an attempt is made', async () => {
        await using opened = await open()
        const { store } = opened
        const { id } = await submit(store, 'alice')
        await store.cancel(id, 'alice', 0)
        expect(await store.purgeExpired(LEASE_MS)).toBe(1)
        expect(await store.nextWebhook(ALL)).toBeUndefined()
        await store.recordWebhook(id, { state: 'delivered', dueAt: undefined, lastError: undefined })
        expect(await store.nextWebhook(ALL)).toBeUndefined()
      })
    })

    it('can be probed', async () => {
      await using opened = await open()
      await opened.store.probe()
      await Promise.all([opened.store.probe(), opened.store.probe()])
      expect(await opened.store.list('alice', 0, 9, undefined)).toEqual([])
    })
  })
}

export function newJob(caller: string, names: readonly string[]): NewJob {
  return {
    id: randomUUIDv7(),
    caller,
    key: Buffer.from(`${caller} ${names.join()}`),
    targets: names.map((name) => ({ url: `https://${name}.example/`, customId: name, options: { mode: 'raw' } })),
    createdAt: 0,
    expiresAt: LEASE_MS,
  }
}
