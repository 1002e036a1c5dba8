import { getEventListeners } from 'node:events'

import { expect, it } from 'vitest'

import { systemClock } from '../src/clock.ts'
import { TimeLimitError, withTimeLimit } from '../src/time-limit.ts'
import { fakeClock } from './helpers/fake-clock.ts'

const never = new AbortController().signal
const endless = () => new Promise<never>(() => undefined)

it('gives what the work gives, and lets go of the clock', async () => {
  const clock = fakeClock()
  let waiting: AbortSignal | undefined
  const watched = { ...clock, delay: (ms: number, signal?: AbortSignal) => clock.delay(ms, (waiting = signal)) }
  expect(await withTimeLimit(10, watched, never, () => Promise.resolve('done'))).toBe('done')
  expect(waiting?.aborted).toBe(true)
})

it('ends work that takes too long', async () => {
  const clock = fakeClock()
  const work = withTimeLimit(10, clock, never, endless)
  clock.advance(9)
  await Promise.resolve()
  clock.advance(1)
  await expect(work).rejects.toBeInstanceOf(TimeLimitError)
})

it('ends with the error that is made for it', async () => {
  const late = new Error('Too late.')
  await expect(withTimeLimit(1, systemClock, never, endless, () => late)).rejects.toBe(late)
})

it('ends work that says something else when it is ended', async () => {
  const work = withTimeLimit(1, systemClock, never, (signal) => systemClock.delay(60_000, signal))
  await expect(work).rejects.toBeInstanceOf(TimeLimitError)
})

it('ends with the reason of the signal', async () => {
  const reason = new Error('The deadline has passed.')
  const controller = new AbortController()
  const works = [endless, (limited: AbortSignal) => systemClock.delay(60_000, limited)]
  const ended = works.map((work) => withTimeLimit(10, fakeClock(), controller.signal, work))
  const outcomes = Promise.allSettled(ended)
  controller.abort(reason)
  expect(await outcomes).toEqual(works.map(() => ({ status: 'rejected', reason })))
})

it('lets errors of the work through', async () => {
  const error = new Error('Broken.')
  await expect(withTimeLimit(10, fakeClock(), never, () => Promise.reject(error))).rejects.toBe(error)
  expect(getEventListeners(never, 'abort')).toEqual([])
})
