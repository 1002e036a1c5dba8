import { setImmediate } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { systemClock } from '../src/clock.ts'

it('waits for longer than a timer can, as after the clock was set back, and does not end at once', async () => {
  const warnings: string[] = []
  const hear = ({ name }: Error) => warnings.push(name) // Node tells of a timer that it cuts down to 1 ms.
  process.on('warning', hear)
  const over = new AbortController()
  const waited = systemClock.delay(2 ** 31, over.signal)
  await setImmediate()
  process.off('warning', hear)
  over.abort()
  await expect(waited).rejects.toThrow('aborted')
  expect(warnings).toEqual([])
})
