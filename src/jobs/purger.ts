import type { Logger } from 'pino'

import type { Clock } from '../clock.ts'
import type { JobStore } from './store.ts'

/** Between two purges. An expired job is not found even before it is purged. */
const PURGE_INTERVAL_MS = 60_000

export interface PurgerOptions {
  readonly store: Pick<JobStore, 'purgeExpired'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Removes expired jobs from the store, now and then, until it is closed: then it stops at once, however many are left. */
export function startPurger({ store, clock, logger }: PurgerOptions): { close(): Promise<void> } {
  const closing = new AbortController()

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const purged = await store.purgeExpired(clock.now(), closing.signal)
        if (purged > 0) logger.info({ purged }, 'expired jobs purged')
      } catch (error) {
        logger.error({ err: error }, 'purging failed; trying again later')
      }
      await clock.delay(PURGE_INTERVAL_MS, closing.signal).catch(() => {})
    }
  }

  const ended = run()
  return {
    async close() {
      closing.abort()
      await ended
    },
  }
}
