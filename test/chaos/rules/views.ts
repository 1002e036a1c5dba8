import { getOrAdd } from '../get-or-add.ts'
import type { JobHistory, View } from '../history.ts'
import { isFinal, line, named, type Rule } from './rule.ts'

/** In every single answer the counts, the statuses and the targets of a job agree. */
export const countsAddUp: Rule = function* ({ jobs }) {
  for (const { id, views } of jobs.values()) {
    for (const view of views) {
      for (const fault of faultsOf(view)) yield `job ${id}: ${fault} ${line(view)}`
    }
  }
}

function* faultsOf(view: View): Generator<string> {
  const { status, error, total, done, failed, finishedAt, targets } = view
  if (done > total || failed > done) yield `${done} of ${total} targets have ended, ${failed} failed`
  if ((finishedAt !== undefined) !== isFinal(view)) yield `it is ${status} and finished_at is ${finishedAt}`
  if (error !== undefined && (error !== 'restart' || status !== 'failed')) yield `it is ${status} with error ${error}`
  const expected = expectedStatus(view)
  if (status !== expected && status !== 'cancelled' && error === undefined) {
    yield `it is ${status}, which should be ${expected} with ${done} of ${total} ended, ${failed} failed`
  }
  if (targets === undefined) return
  if (targets.length !== total) yield `it lists ${targets.length} of ${total} targets`
  const ended = targets.filter((target) => target.outcome !== undefined)
  if (ended.length !== done) yield `targets_done is ${done}, and ${ended.length} have an outcome`
  const failures = ended.filter((target) => target.status === 'failed').length
  if (failures !== failed) yield `targets_failed is ${failed}, and ${failures} have failed`
  for (const [position, target] of targets.entries()) {
    if (target.idx !== position) yield `target ${target.idx} stands at place ${position}`
    if (!target.isConsistent) yield `target ${position} is ${target.status}, and its fields say otherwise`
    if ((target.outcome !== undefined) !== position < done) yield `the outcomes are not the first ${done} targets`
  }
}

/** The status of a job that nobody cut short. */
function expectedStatus({ total, done, failed }: View): string {
  if (done < total) return 'running'
  if (failed === 0) return 'done'
  return failed === total ? 'failed' : 'partial'
}

/** What was told of a job once never goes back: neither its count, nor its lease, nor its end. */
export const onlyForward: Rule = function* ({ jobs }) {
  for (const job of jobs.values()) yield* stepsBack(job)
}

function* stepsBack({ id, views }: JobHistory): Generator<string> {
  const told = views.toSorted((one, other) => one.at - other.at)
  let next = 0
  let most: View | undefined
  let end: View | undefined
  for (const view of views.toSorted((one, other) => one.sentAt - other.sentAt)) {
    for (let before = told[next]; before && before.at < view.sentAt; before = told[next]) {
      if (most === undefined || before.done >= most.done) most = before
      if (isFinal(before)) end ??= before
      next += 1
    }
    if (most && view.done < most.done)
      yield `job ${id}: ${view.done} outcomes ${line(view)} after ${most.done} ${line(most)}`
    if (most && view.expiresAt < most.expiresAt) yield `job ${id}: its lease went back ${line(view)} ${line(most)}`
    if (end && endOf(view) !== endOf(end))
      yield `job ${id}: ${endOf(view)} ${line(view)} after ${endOf(end)} ${line(end)}`
    if (view.createdAt !== views[0]?.createdAt) yield `job ${id}: it was created at another time ${line(view)}`
  }
}

const endOf = ({ status, error, finishedAt }: View): string =>
  finishedAt === undefined ? status : `${status} ${error ?? ''} at ${finishedAt}`

/** Each target gets one outcome, the same in every answer, to the byte. What was told is never lost again. */
export const oneOutcome: Rule = function* ({ jobs, bareContents }) {
  for (const { id, tellings, views } of jobs.values()) {
    /** The first telling of each idx: of why it ended as it did, and of all, with results and without. */
    const first = new Map<string, JobHistory['tellings'][number]>()
    for (const telling of tellings) {
      const { idx, hasResult, text } = telling.outcome
      const whole = getOrAdd(first, `${idx} ${hasResult}`, telling)
      const any = getOrAdd(first, `${idx}`, telling)
      if (whole.outcome.text !== text || reasonOf(any) !== reasonOf(telling)) {
        yield `${named(id, idx)}: ${text} ${line(telling)} was ${any.outcome.text} ${line(any)}`
      }
    }
    yield* lost(id, [...first.values()], views)
  }
  for (const bare of bareContents) {
    const told = jobs.get(bare.id)?.tellings.find(({ outcome }) => outcome.idx === bare.idx && outcome.hasResult)
    if (told && told.outcome.content !== bare.content) {
      yield `${named(bare.id, bare.idx)}: its bare content ${line(bare)} is another than ${line(told)}`
    }
  }
}

const reasonOf = ({ outcome: { status, error, message } }: JobHistory['tellings'][number]): string =>
  JSON.stringify([status, error, message])

function* lost(id: string, tellings: JobHistory['tellings'], views: readonly View[]): Generator<string> {
  for (const { at, outcome, line: number } of tellings) {
    const later = views.find((view) => view.sentAt > at && view.done <= outcome.idx)
    if (later) yield `${named(id, outcome.idx)}: its outcome (line ${number}) is lost ${line(later)}`
  }
}

/** Every reader of lines gets each outcome from where it asked for, in order; a follower gets them all. */
export const linesInOrder: Rule = function* ({ lines, jobs, lives }) {
  for (const reading of lines) {
    const { id, from, idxs, isFollowed, broken, status, sentAt, at } = reading
    if (idxs.some((idx, place) => idx !== from + place)) {
      yield `job ${id}: its lines from ${from} on are ${idxs.join(', ')} ${line(reading)}`
    }
    const isStopping = lives.some(({ signalAt, exitAt }) => sentAt <= exitAt && signalAt <= at)
    // Who follows a job while the service stops is sent away, to go on where it left off.
    if (!isFollowed || status !== 200 || broken !== undefined || isStopping) continue
    const most = Math.max(0, ...(jobs.get(id)?.views ?? []).map(({ done }) => done))
    if (from + idxs.length < most) {
      yield `job ${id}: who followed it from ${from} on got ${idxs.length} lines of ${most - from} ${line(reading)}`
    }
  }
}
