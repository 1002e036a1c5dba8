import type { Rule } from './rule.ts'

/** Milliseconds by which the two clocks of the machine may drift apart during a run. */
const DRIFT_MS_MAX = 500

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

/** Enough happened to say anything at all: a kill, a cancel, a submission that met its job again, content. */
export const eventful: Rule = function* ({ lives, submissions, jobs }) {
  if (!lives.some(({ isKilled }) => isKilled)) yield 'no process was killed'
  if (!submissions.some(({ reused }) => reused === true)) yield 'no submission met its job again'
  const views = [...jobs.values()].flatMap((job) => job.views)
  if (!views.some(({ status }) => status === 'cancelled')) yield 'no job was cancelled'
  if (!views.some(({ done, failed }) => done > failed)) yield 'no target was done'
}

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
