import { getEventListeners } from 'node:events'

import { describe, expect, it } from 'vitest'

import { createJobChanges } from '../../src/jobs/changes.ts'
import { followJob, waitUntilFinal } from '../../src/jobs/follow.ts'
import type { JobStatus } from '../../src/jobs/states.ts'
import type { JobSnapshot } from '../../src/jobs/store.ts'
import { fakeClock } from '../helpers/fake-clock.ts'

const never = () => new AbortController().signal

/** A job of two targets as a reader finds it, `done` of which have an outcome. */
function watchedJob() {
  const changes = createJobChanges()
  let status: JobStatus = 'running'
  let done = 0
  const read = async () => {
    const targets = [0, 1].map((idx) => ({ idx, status: idx < done ? 'done' : 'pending' }))
    return { job: { id: 'j', status, targetsDone: done }, targets } as unknown as JobSnapshot
  }
  return {
    watched: { id: 'j', changes, read },
    changes,
    change(to: JobStatus, count: number) {
      status = to
      done = count
      changes.announce('j')
    },
  }
}

describe('the changes of a job', () => {
  it('wake everyone who waits for it, once, and nobody else', async () => {
    const changes = createJobChanges()
    const signal = never()
    let others = 0
    void changes.next('other', signal).then(() => (others += 1))
    const woken = [changes.next('j', signal), changes.next('j', signal)]
    expect(changes.waiters('j')).toBe(2)
    changes.announce('j')
    await Promise.all(woken)
    expect({ others, left: changes.waiters('j'), kept: changes.waiters('other') }).toEqual({
      others: 0,
      left: 0,
      kept: 1,
    })
    changes.announce('j') // To nobody.
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  })

  it('are not waited for any longer than the signal says', async () => {
    const changes = createJobChanges()
    const gone = new AbortController()
    const woken = changes.next('j', gone.signal)
    gone.abort()
    await woken
    await changes.next('j', gone.signal)
    expect(changes.waiters('j')).toBe(0)
  })
})

describe('waiting and following leave nothing behind', () => {
  it.each(['the job ends', 'the time is over', 'reading it fails', 'the signal aborts'])('when %s', async (how) => {
    const { watched, changes, change } = watchedJob()
    const clock = fakeClock()
    const aborting = new AbortController()
    const read = how === 'reading it fails' ? () => Promise.reject(new Error('gone')) : watched.read
    const waited = waitUntilFinal({ ...watched, read }, { waitMs: 5_000, clock, signal: aborting.signal })
    if (how === 'the job ends') change('done', 2)
    else if (how === 'the time is over') clock.advance(5_000)
    else if (how === 'the signal aborts') aborting.abort()
    if (how === 'reading it fails') await expect(waited).rejects.toThrow('gone')
    else expect((await waited).job.status).toBe(how === 'the job ends' ? 'done' : 'running')
    expect({ waiters: changes.waiters('j'), timers: clock.waiting }).toEqual({ waiters: 0, timers: 0 })
  })

  it('when a follower has been told the end, or has had enough', async () => {
    const { watched, changes, change } = watchedJob()
    const options = { from: 0, isDraining: () => false, signal: never() }
    const first = followJob(watched, options)
    const second = followJob(watched, options)
    change('running', 1)
    expect((await first.next()).value).toMatchObject({ target: { idx: 0 } })
    expect((await second.next()).value).toMatchObject({ target: { idx: 0 } })
    await second.return()
    change('done', 2)
    expect((await first.next()).value).toMatchObject({ target: { idx: 1 } })
    expect((await first.next()).value).toMatchObject({ job: { status: 'done' } })
    expect((await first.next()).done).toBe(true)
    expect(changes.waiters('j')).toBe(0)
  })

  it('tells nothing as the end while a target is in flight, and every outcome once', async () => {
    const { watched, change } = watchedJob()
    let isDraining = true
    const steps = followJob(watched, { from: 0, isDraining: () => isDraining, signal: never() })
    const first = steps.next()
    change('cancelled', 0)
    change('cancelled', 1)
    expect((await first).value).toMatchObject({ target: { idx: 0 } })
    const second = steps.next()
    isDraining = false
    change('cancelled', 1)
    expect((await second).value).toMatchObject({ job: { status: 'cancelled' } })
  })
})
