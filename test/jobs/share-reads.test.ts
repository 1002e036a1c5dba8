import { setImmediate } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import { createJobChanges } from '../../src/jobs/changes.ts'
import { shareReads } from '../../src/jobs/share-reads.ts'
import type { JobSnapshot } from '../../src/jobs/store.ts'

/** A reader of jobs that shares, and a store whose jobs all have the same number of outcomes. */
function sharingReader() {
  const changes = createJobChanges()
  const reads: string[] = []
  let stored = 0
  const read = shareReads(async (caller, id) => {
    reads.push(`${caller} ${id}`)
    return { job: { id, targetsDone: stored } } as unknown as JobSnapshot
  }, changes)
  return {
    changes,
    reads,
    store: () => (stored += 1),
    seen: async (caller = 'alice', id = 'j') => (await read(caller, id)).job.targetsDone,
  }
}

describe('those who read a job in the same turn', () => {
  it('share a read', async () => {
    const { reads, seen } = sharingReader()
    expect(await Promise.all([seen(), seen(), seen()])).toEqual([0, 0, 0])
    expect(reads).toEqual(['alice j'])
  })

  it('share none with those who read another job, or are another caller', async () => {
    const { reads, seen } = sharingReader()
    await Promise.all([seen(), seen('bob'), seen('alice', 'k'), seen('bob')])
    expect(reads).toEqual(['alice j', 'bob j', 'alice k'])
  })

  it('see a change from when it is announced', async () => {
    const { changes, reads, store, seen } = sharingReader()
    const before = seen()
    store()
    changes.announce('j')
    expect(await Promise.all([before, seen(), seen()])).toEqual([0, 1, 1])
    expect(reads).toHaveLength(2)
  })

  it('are woken by a change that is stored and not announced when they read', async () => {
    const { changes, store, seen } = sharingReader()
    const first = seen()
    store()
    const changed = changes.next('j', new AbortController().signal)
    expect(await Promise.all([first, seen()])).toEqual([0, 0])
    changes.announce('j')
    await changed
    expect(await seen()).toBe(1)
  })

  it('share nothing with the next turn, so that what nobody announces is seen, too', async () => {
    const { reads, store, seen } = sharingReader()
    expect(await seen()).toBe(0)
    store()
    await setImmediate()
    expect(await seen()).toBe(1)
    expect(reads).toHaveLength(2)
  })

  it('share a failure, and the next turn tries again', async () => {
    let reads = 0
    const read = shareReads(() => Promise.reject(new Error(`read ${(reads += 1)}`)), createJobChanges())
    const failures = await Promise.allSettled([read('alice', 'j'), read('alice', 'j')])
    expect(failures.map((failure) => failure.status === 'rejected' && failure.reason.message)).toEqual([
      'read 1',
      'read 1',
    ])
    await setImmediate()
    await expect(read('alice', 'j')).rejects.toThrow('read 2')
  })
})
