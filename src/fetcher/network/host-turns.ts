import type { Clock } from '../../clock.ts'
import { TargetError } from '../../jobs/target-error.ts'
import { raceAbort } from '../../race-abort.ts'
import { withTimeLimit } from '../../time-limit.ts'
import { statusText } from './status.ts'

/** Milliseconds that a request keeps its turn. One that takes longer, such as one that hangs, keeps nobody waiting. */
const TURN_MS_MAX = 10_000
/** Milliseconds that a host is left alone at most, whatever it asks for, so that one page of it cannot shut out all. */
const PAUSE_MS_MAX = 60_000
/** Hosts remembered before those that have nothing to remember are dropped. */
const HOSTS_SWEEP = 1_000

export interface HostTurnsOptions {
  readonly clock: Clock
  /** Milliseconds between the end of one request to a host and the start of the next. */
  readonly gapMs: number
}

interface TurnOptions {
  readonly signal: AbortSignal
  /** Milliseconds that are left for the request. */
  readonly timeLeft: () => number
}

/** Lets one request at a time go to each host, with a gap between, whichever job or caller it is for. */
export interface HostTurns {
  /**
   * Waits for a turn at the host. Turns come in the order in which they were asked for.
   * @returns what ends the turn.
   * @throws {TargetError} `http_429` or `http_503` if the host asked to be left alone for longer than there is time;
   * `timeout` if there is none left.
   * @throws the reason of the signal.
   */
  take(host: string, options: TurnOptions): Promise<() => void>
  /** Leaves a host alone for `ms` milliseconds, at most 60,000, after it answered `status`. */
  pause(host: string, ms: number, status: 429 | 503): void
}

interface Host {
  /** Resolves when every turn asked for so far has ended. */
  lastEnd: Promise<void>
  /** Turns asked for that have not ended. */
  turns: number
  /** Milliseconds since the Unix epoch before which nothing is sent. */
  freeAt: number
  pausedBy: 429 | 503 | undefined
}

export function createHostTurns({ clock, gapMs }: HostTurnsOptions): HostTurns {
  const hosts = new Map<string, Host>()

  function entry(name: string): Host {
    const key = name.replace(/\.$/, '')
    const known = hosts.get(key)
    if (known !== undefined) return known
    if (hosts.size >= HOSTS_SWEEP) sweep()
    const host = { lastEnd: Promise.resolve(), turns: 0, freeAt: 0, pausedBy: undefined }
    hosts.set(key, host)
    return host
  }

  function sweep(): void {
    for (const [key, { turns, freeAt }] of hosts) if (turns === 0 && freeAt <= clock.now()) hosts.delete(key)
  }

  /** Waits until nothing keeps the host from being asked. */
  async function free(host: Host, timeLeft: () => number, signal: AbortSignal): Promise<void> {
    // After a clock was set back, the end of the wait would be far away.
    host.freeAt = Math.min(host.freeAt, clock.now() + Math.max(gapMs, PAUSE_MS_MAX))
    for (let waitMs = host.freeAt - clock.now(); waitMs > 0; waitMs = host.freeAt - clock.now()) {
      if (host.pausedBy !== undefined && waitMs >= timeLeft()) throw paused(host.pausedBy, waitMs)
      await clock.delay(waitMs, signal)
    }
    host.pausedBy = undefined
  }

  return {
    async take(name, { signal, timeLeft }) {
      const host = entry(name)
      const before = host.lastEnd
      const wait = async (limited: AbortSignal) => {
        await raceAbort(before, limited)
        await free(host, timeLeft, limited)
      }
      const ended = Promise.withResolvers<void>()
      host.lastEnd = before.then(() => ended.promise)
      host.turns += 1
      const leave = () => {
        host.turns -= 1
        ended.resolve()
      }
      try {
        await withTimeLimit(timeLeft(), clock, signal, wait, crowded)
      } catch (error) {
        leave()
        throw error
      }
      const over = new AbortController()
      const pass = () => {
        host.freeAt = Math.max(host.freeAt, clock.now() + gapMs)
        if (!over.signal.aborted) leave()
        over.abort()
      }
      clock.delay(TURN_MS_MAX, over.signal).then(pass, () => undefined)
      return pass
    },

    pause(name, ms, status) {
      const host = entry(name)
      host.freeAt = Math.max(host.freeAt, clock.now() + Math.min(ms, PAUSE_MS_MAX))
      host.pausedBy = status
    },
  }
}

function paused(status: 429 | 503, waitMs: number): TargetError {
  const seconds = Math.ceil(waitMs / 1_000)
  return new TargetError(
    `http_${status}`,
    `The host answered ${statusText(status)} a moment ago, and is left alone for another ${seconds} s.`,
    { hint: `This URL was not asked for; retry the job in ${seconds} s.` },
  )
}

const crowded = () =>
  new TargetError('timeout', 'Other requests to the host took all the time: one at a time goes to each host.', {
    hint: 'Other jobs fetch from this host; try it again when they are done.',
  })
