import { countEndings } from '../endings.ts'
import type { History } from '../history.ts'
import { ownJob, type Rule } from './rule.ts'

/** Milliseconds by which the two clocks of the machine may drift apart during a run. */
const DRIFT_MS_MAX = 500
/** Milliseconds of a run in which everything that is done at random has come up, even on a slow machine. */
const LONG_MS_MIN = 600_000
/** At its end a run stops two processes that have no callers any more. */
const LAST_LIVES = 2
/** Of all targets. On a machine that is short of time, many take too long whatever the service does. */
const LATE_SHARE_MAX = 0.5
/** A kind of target that came up so often should have ended as it should at least once; this share of them must. */
const OFTEN = 3
const OWN_SHARE_MIN = 0.9

/** A process ends when it is told to: by a kill, or in time and with code 0 after a SIGTERM. Never by itself. */
export const orderlyExits: Rule = function* ({ lives, settings }) {
  for (const { number, signal, signalAt, isKilled, exitAt, code } of lives) {
    const what = `process ${number}`
    if (exitAt === Infinity) yield `${what} never ended`
    else if (signal === undefined) yield `${what} ended by itself with ${code} at ${exitAt}`
    else if (!isKilled && code !== 0) yield `${what} ended with ${code} after a SIGTERM`
    else if (exitAt - signalAt > settings.stopMsMax) yield `${what} took ${exitAt - signalAt} ms to stop`
    else if (isKilled && code !== 0 && code !== 'SIGKILL') yield `${what} ended with ${code} after a kill`
  }
}

/**
 * Enough happened to say anything at all: a kill, a cancel, a submission that met its job again and one that was refused
 * over a cap, content, a lease that ended. In a long run also what takes its time.
 */
export const eventful: Rule = function* (history) {
  const { lives, submissions, asked, ticks } = history
  if (!lives.some(({ isKilled }) => isKilled)) yield 'no process was killed'
  if (!submissions.some(({ reused }) => reused === true)) yield 'no submission met its job again'
  if (!submissions.some(({ status }) => status === 429)) yield 'no submission was over a cap'
  const views = viewsOf(history)
  if (!views.some(({ status }) => status === 'cancelled')) yield 'no job was cancelled'
  if (!views.some(({ done, failed }) => done > failed)) yield 'no target was done'
  if (!asked.some((request) => request.code === 'job_not_found' && ownJob(request, history))) yield 'no lease ended'
  const lastedMs = (ticks.at(-1)?.monotonicMs ?? 0) - (ticks[0]?.monotonicMs ?? 0)
  if (lastedMs >= LONG_MS_MIN) yield* eventfulForLong(history)
}

/** A stop and a restart amid the work; and of the targets, most ended in time, and nearly every kind as it should. */
function* eventfulForLong(history: History): Generator<string> {
  if (!history.lives.slice(0, -LAST_LIVES).some(({ signal }) => signal === 'term')) yield 'no process was told to stop'
  if (!viewsOf(history).some(({ error }) => error === 'restart')) yield 'no job failed for a restart'
  const { total, late, kinds } = countEndings(history)
  if (late > LATE_SHARE_MAX * total) yield `${late} of ${total} targets took too long`
  const frequent = kinds.filter((kind) => kind.total >= OFTEN)
  const missed = frequent.filter(({ own }) => own === 0).map(({ name }) => name)
  if (frequent.length - missed.length < OWN_SHARE_MIN * frequent.length) {
    yield `${missed.length} of ${frequent.length} kinds never ended as they should: ${missed.join(', ')}`
  }
}

const viewsOf = ({ jobs }: History) => [...jobs.values()].flatMap(({ views }) => views)

/** The clock of the machine was not moved during the run; else nothing that is said of times can be relied on. */
export const honestClock: Rule = function* ({ ticks }) {
  const [base = Number.NaN] = ticks.map(({ at, monotonicMs }) => at - monotonicMs)
  if (ticks.length < 2) yield 'nobody looked at the clock'
  for (const { at, monotonicMs } of ticks) {
    const drift = at - monotonicMs - base
    if (Math.abs(drift) > DRIFT_MS_MAX)
      yield `the clock of the machine was moved by ${Math.round(drift)} ms before ${at}`
  }
}
