import { existsSync } from 'node:fs'

import { expect, it } from 'vitest'

import { mostResidentBytes } from '../helpers/process-state.ts'
import { startService } from '../helpers/process.ts'
import type { Behaviour } from './behaviour.ts'
import { BEHAVIOURS } from './behaviours.ts'
import { LAB_RANGES, startLab } from './lab.ts'

const MEGABYTE = 1024 * 1024
const RESIDENT_BYTES_MAX = 300 * MEGABYTE
/** Each has a share of the bombs, so that several of them are taken in at the same time. */
const CALLERS = ['alice', 'bob', 'carol']

/** Send more than anybody wants, which neither their names nor their outcomes tell. */
const OTHER_BOMBS: readonly string[] = ['redirect-with-body', 'tiny-chunks', 'zstd-wide-window']
/** Sends more than anybody wants, in a header, in a body, or in what either unpacks to. */
const isBomb = ({ name, expected }: Behaviour) =>
  expected.outcome === 'too_large' || /bomb|flood/.test(name) || OTHER_BOMBS.includes(name)
const isEndless = ({ expected }: Behaviour) => expected.outcome === 'timeout'

// Only Linux tells how much memory a process has had at most.
it.runIf(existsSync('/proc/self/status')).each([
  ['bomb', BEHAVIOURS.filter((behaviour) => isBomb(behaviour) && !isEndless(behaviour)), 60_000],
  [
    'flood that only the deadline ends',
    BEHAVIOURS.filter((behaviour) => isBomb(behaviour) && isEndless(behaviour)),
    4_000,
  ],
] as const)(
  'no %s takes the service beyond 300 MB',
  async (_kind, behaviours, targetTimeoutMs) => {
    await using lab = await startLab()
    const service = await startService({
      DATABASE_URL: ':memory:',
      PAGEHAUL_GUARD_ALLOW: LAB_RANGES.join(','),
      PAGEHAUL_TARGET_TIMEOUT_MS: String(targetTimeoutMs),
    })
    try {
      const work = CALLERS.map(async (caller, turn) => {
        const share = behaviours.filter((_, index) => index % CALLERS.length === turn)
        const targets = share.map(({ name }) => ({ url: lab.urls[name] ?? '', custom_id: name }))
        const { body } = await service.submit({ targets }, caller)
        const job = await service.ended(body.id, caller)
        const outcomes = job.targets.map(({ custom_id: name, error = 'done' }) => [name, error])
        expect(outcomes).toEqual(share.map(({ name, expected }) => [name, expected.outcome]))
      })
      await Promise.all(work)
      const bytes = mostResidentBytes(service.child.pid ?? 0)
      expect(bytes).toBeGreaterThan(0)
      expect(bytes).toBeLessThan(RESIDENT_BYTES_MAX)
    } finally {
      await service.stop('SIGTERM')
    }
  },
  110_000,
)
