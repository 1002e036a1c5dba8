import fc from 'fast-check'
import { expect, it } from 'vitest'

import {
  finishEvent,
  isFinal,
  JOB_STATUSES,
  JOB_TRANSITIONS,
  type JobEvent,
  type JobStatus,
  nextStatus,
} from '../../src/jobs/states.ts'

const EVENTS: JobEvent[] = ['start', 'allDone', 'someFailed', 'allFailed', 'cancel', 'crash', 'restart']

it('every live status can be cancelled, crash and be interrupted', () => {
  const live = JOB_STATUSES.filter((status) => !isFinal(status))
  expect(live).toEqual(['queued', 'running'])
  for (const status of live) {
    expect(nextStatus(status, 'cancel')).toBe('cancelled')
    expect(nextStatus(status, 'crash')).toBe('failed')
    expect(nextStatus(status, 'restart')).toBe('failed')
  }
})

it('every status but the first is reached by some event', () => {
  const reached = new Set<string>(Object.values(JOB_TRANSITIONS).flatMap((events) => Object.values(events)))
  expect([...reached].toSorted()).toEqual(JOB_STATUSES.filter((status) => status !== 'queued').toSorted())
})

it('property: no run of events leaves a final status', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS)), (events) => {
      let status: JobStatus = 'queued'
      for (const event of events) {
        const next: JobStatus | undefined = nextStatus(status, event)
        if (isFinal(status)) expect(next).toBeUndefined()
        status = next ?? status
      }
    }),
  )
})

it('property: the event that ends a job agrees with its counts', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 32 }), fc.nat(32), (total, some) => {
      const failed = some % (total + 1)
      const status = nextStatus('running', finishEvent(total, failed))
      expect(status).toBe(failed === 0 ? 'done' : failed === total ? 'failed' : 'partial')
    }),
  )
  expect(() => finishEvent(0, 0)).toThrow('a finished job has targets')
  expect(() => finishEvent(2, 3)).toThrow('no more failures than targets')
})
