import { lookup } from 'node:dns/promises'

import { TargetError } from '../../jobs/target-error.ts'
import type { Resolve } from './resolve.ts'

/** Look-ups at a time. Node has four threads, and files and compression need some. */
const LOOKUPS_MAX = 2
/** Milliseconds that a look-up waits for its turn. The connection that it is for is given up soon after. */
const WAIT_MS_MAX = 8_000

/**
 * The system's own resolver, which knows search domains and the network around. A look-up holds a thread for as long as
 * a name server keeps silent, and nothing calls it off, so that few run at a time.
 * @param ask in its place; for tests.
 * @param now milliseconds of a clock that never goes back.
 */
export function createSystemResolver(ask: Resolve = askSystem, now: () => number = () => performance.now()): Resolve {
  const running = new Set<Promise<void>>()
  return async (host) => {
    const startedAt = now()
    while (running.size >= LOOKUPS_MAX) await Promise.race(running)
    if (now() - startedAt > WAIT_MS_MAX) throw new TargetError('dns_failure', 'Look-ups of local names get no answer.')
    const answer = ask(host)
    const settled = () => void running.delete(ended)
    const ended = answer.then(settled, settled)
    running.add(ended)
    return answer
  }
}

async function askSystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}
