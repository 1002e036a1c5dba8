import { after, type Clock } from '../../clock.ts'
import { TargetError } from '../../jobs/target-error.ts'
import { raceAbort } from '../../race-abort.ts'
import { statusText } from './status.ts'

/** Milliseconds that a request keeps its turn. One that takes longer, such as one that hangs, keeps nobody waiting. */
const TURN_MS_MAX = 10_000
/** Milliseconds that a host is left alone at most, whatever it asks for, so that one page of it cannot shut out all. */
const PAUSE_MS_MAX = 20_000
/** Hosts remembered before those that have nothing to remember are dropped. */
const HOSTS_SWEEP = 1_000

export interface HostTurnsOptions {
  readonly clock: Clock
  /** Milliseconds between the end of one request to a host and the start of the next. */
  readonly gapMs: number
}

interface TurnOptions {
  readonly signal: AbortSignal
  /** Milliseconds that are left for the request. They may become more. */
  readonly timeLeft: () => number
}

/** A request was not sent, since its turn cannot come in time. */
export class NoTurnError extends TargetError {}

/** Lets one request at a time go to each host, with a gap between, whichever job or caller it is for. */
export interface HostTurns {
  /**
   * Waits for a turn at the host. Turns come in the order in which they were asked for.
   * @returns what ends the turn.
   * @throws {NoTurnError} as soon as there is not time enough: `http_429` or `http_503` if the host asked to be left alone,
   * `timeout` otherwise.
   * @throws the reason of the signal.
   */
  take(host: string, options: TurnOptions): Promise<() => void>
  /** Leaves a host alone for `ms` milliseconds, at most 20,000, after it answered `status`. */
  pause(host: string, ms: number, status: 429 | 503): void
}

interface Host {
  /** Resolves when every turn asked for so far has ended. */
  lastEnd: Promise<void>
  /** For each turn asked for that has not ended: looks whether it can still come in time. */
  readonly turns: Set<() => void>
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
    const host = { lastEnd: Promise.resolve(), turns: new Set<() => void>(), freeAt: 0, pausedBy: undefined }
    hosts.set(key, host)
    return host
  }

  function sweep(): void {
    for (const [key, { turns, freeAt }] of hosts) if (turns.size === 0 && freeAt <= clock.now()) hosts.delete(key)
  }

  /** Milliseconds for which the host is to be left alone. After a clock was set back, they would be too many. */
  function waitOf(host: Host): number {
    host.freeAt = Math.min(host.freeAt, clock.now() + Math.max(gapMs, PAUSE_MS_MAX))
    return host.freeAt - clock.now()
  }

  /** Why a turn cannot come in time, as far as that is known. */
  function refusalOf(host: Host, timeLeftMs: number): NoTurnError | undefined {
    const waitMs = waitOf(host)
    if (timeLeftMs > Math.max(waitMs, 0)) return undefined
    return host.pausedBy !== undefined && waitMs > 0 ? paused(host.pausedBy, waitMs) : crowded()
  }

  /** Waits until the turns before have ended and nothing keeps the host from being asked. */
  async function wait(host: Host, before: Promise<void>, signal: AbortSignal): Promise<void> {
    await raceAbort(before, signal)
    for (let waitMs = waitOf(host); waitMs > 0; waitMs = waitOf(host)) await clock.delay(waitMs, signal)
    host.pausedBy = undefined
  }

  return {
    async take(name, { signal, timeLeft }) {
      const host = entry(name)
      const refused = new AbortController()
      const look = () => {
        const refusal = refusalOf(host, timeLeft())
        if (refusal !== undefined) refused.abort(refusal)
      }
      const lookInTime = (): (() => void) =>
        after(timeLeft(), clock, () => {
          look()
          if (!refused.signal.aborted) callOff = lookInTime()
        })
      let callOff = lookInTime()

      const before = host.lastEnd
      const ended = Promise.withResolvers<void>()
      host.lastEnd = before.then(() => ended.promise)
      host.turns.add(look)
      const leave = () => {
        callOff()
        host.turns.delete(look)
        ended.resolve()
      }
      try {
        look()
        await wait(host, before, AbortSignal.any([signal, refused.signal]))
      } catch (error) {
        leave()
        throw error
      }
      callOff()
      const pass = () => {
        host.freeAt = Math.max(host.freeAt, clock.now() + gapMs)
        leave()
      }
      callOff = after(TURN_MS_MAX, clock, pass)
      return pass
    },

    pause(name, ms, status) {
      const host = entry(name)
      host.freeAt = Math.max(host.freeAt, clock.now() + Math.min(ms, PAUSE_MS_MAX))
      host.pausedBy = status
      for (const look of host.turns) look()
    },
  }
}

function paused(status: 429 | 503, waitMs: number): NoTurnError {
  const seconds = Math.ceil(waitMs / 1_000)
  return new NoTurnError(
    `http_${status}`,
    `The host answered ${statusText(status)} a moment ago, and is left alone for another ${seconds} s.`,
    { hint: `This URL was not asked for; retry the job in ${seconds} s.` },
  )
}

const crowded = () =>
  new NoTurnError('timeout', 'Other requests to the host took all the time: one at a time goes to each host.', {
    hint: 'Other jobs fetch from this host; try it again when they are done.',
  })
