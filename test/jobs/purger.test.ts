import { pino } from 'pino'
import { expect, it } from 'vitest'

import { DEFAULT_LIMITS } from '../../src/jobs/limits.ts'
import { startPurger } from '../../src/jobs/purger.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { fakeClock } from '../helpers/fake-clock.ts'
import { newJob } from '../store/conformance.ts'

it('ends with the job that it removes, however many have expired, when it is closed', async () => {
  const store = openSqliteStore(':memory:')
  const clock = fakeClock()
  for (const name of ['a', 'b', 'c']) {
    const { id } = (await store.submit(newJob('alice', [name]), DEFAULT_LIMITS, true)).snapshot.job
    await store.cancel(id, 'alice', 0)
  }
  const purger = startPurger({ store, clock, logger: pino({ level: 'silent' }) })
  await purger.close()
  expect(await store.purgeExpired(clock.now())).toBe(2)
  await store.close()
})
