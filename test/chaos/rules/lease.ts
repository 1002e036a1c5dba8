import type { History, JobHistory, Life, View } from '../history.ts'
import {
  COMMIT_MS_MAX,
  createdAtOf,
  isFinal,
  latestExpiry,
  lifeAt,
  line,
  named,
  ownJob,
  type Rule,
  viewsBefore,
} from './rule.ts'

/** The lease ends a fixed time after the last outcome, or the creation of a job without one. */
export const leaseArithmetic: Rule = function* ({ jobs, settings }) {
  for (const job of jobs.values()) {
    for (const view of job.views) {
      const fault = leaseFault(view, job, settings.leaseMs)
      if (fault !== undefined) yield `job ${job.id}: ${fault} ${line(view)}`
    }
  }
}

function leaseFault(view: View, { views }: JobHistory, leaseMs: number): string | undefined {
  const { done, total, createdAt, finishedAt, expiresAt, sentAt, at, status } = view
  const from = expiresAt - leaseMs
  if (isFinal(view) && expiresAt <= sentAt) return `it is shown at ${sentAt}, after its lease ended at ${expiresAt}`
  if (done === 0) return from === createdAt ? undefined : `its lease runs from ${from}, it was created at ${createdAt}`
  if (done === total && status !== 'cancelled' && finishedAt !== from)
    return `its lease runs from ${from}, it ended at ${finishedAt}`
  const earlier = views.filter((one) => one.done < done).map((one) => one.sentAt)
  const earliest = Math.max(createdAt, ...earlier) - COMMIT_MS_MAX
  if (from < earliest || from > at)
    return `its lease runs from ${from}, its last outcome came from ${earliest} to ${at}`
  const other = views.find((one) => one.done === done && one.expiresAt !== expiresAt)
  return other && `its lease moved from ${other.expiresAt} ${line(other)} to ${expiresAt} without an outcome`
}

/** Until its lease ends, a job is there for its caller. */
export const thereUntilExpiry: Rule = function* ({ asked, jobs }) {
  for (const request of asked) {
    if (request.code !== 'job_not_found') continue
    const job = ownJob(request, { jobs })
    if (job === undefined) continue
    const expiry = latestExpiry(viewsBefore(job, request.sentAt))
    if (expiry > request.at)
      yield `job ${job.id} is not found at ${request.at}, its lease ends at ${expiry} ${line(request)}`
  }
}

/** A list has every job of the caller whose lease lasts, newest first, and no other. */
export const wholeList: Rule = function* ({ listings, jobs }) {
  for (const listing of listings) {
    const { ids, after = 'g', isLastPage, caller, sentAt, at } = listing
    const sorted = ids.toSorted().toReversed()
    if (
      ids.some((id, place) => id !== sorted[place]) ||
      new Set(ids).size < ids.length ||
      ids.some((id) => id >= after)
    ) {
      yield `${caller}: the list ${line(listing)} is out of order: ${ids.join(', ')}`
    }
    const last = isLastPage ? '' : (ids.at(-1) ?? '')
    for (const job of jobs.values()) {
      if (!job.callers.has(caller) || ids.includes(job.id) || job.id >= after || job.id < last) continue
      if (latestExpiry(viewsBefore(job, sentAt)) > at) yield `${caller}: the list ${line(listing)} lacks job ${job.id}`
    }
  }
}

/**
 * A job that was live when its process ended is failed with `restart` from the start of the next one on, and only such
 * a job is.
 */
export const restarts: Rule = function* (history) {
  for (const { id, views } of history.jobs.values()) {
    const life = lifeAt(history, views[0]?.createdAt ?? Number.NaN)
    for (const view of views) {
      const fault = restartFault(view, life, history)
      if (fault !== undefined) yield `job ${id}: ${fault} ${line(view)}`
    }
  }
}

function restartFault(view: View, life: Life | undefined, { lives }: History): string | undefined {
  if (life === undefined) return `it was created at ${view.createdAt}, when no process ran`
  const { exitAt } = life
  if (!isFinal(view)) return view.sentAt > exitAt ? `it is live, its process ended at ${exitAt}` : undefined
  const { finishedAt = Number.NaN, error } = view
  if (error === 'restart') {
    const next = lives.find(({ startAt, upAt }) => startAt >= exitAt && startAt <= finishedAt && finishedAt <= upAt)
    return next ? undefined : `it failed with restart at ${finishedAt}, when no process started`
  }
  return finishedAt > exitAt ? `it ended as ${view.status} at ${finishedAt}, its process ended at ${exitAt}` : undefined
}

/** A cancel ends a live job at once; at most the target in flight then still gets its outcome. Only its caller cancels. */
export const cancels: Rule = function* ({ jobs, asked }) {
  const requests = asked.filter(({ method }) => method === 'DELETE')
  const byId = Map.groupBy(requests, ({ path }) => path.split('/')[2] ?? '')
  for (const job of jobs.values()) yield* cancelFaults(job, byId.get(job.id) ?? [])
}

function* cancelFaults({ id, views }: JobHistory, requests: History['asked']): Generator<string> {
  const cancelled = views.filter(({ status }) => status === 'cancelled')
  const atCancel = Math.min(...cancelled.map(({ done }) => done))
  const late = cancelled.find(({ done }) => done > atCancel + 1)
  if (late) yield `${named(id, late.done - 1)} got an outcome ${line(late)} after the cancel at ${atCancel} outcomes`
  const [first] = cancelled
  if (first && !requests.some(({ sentAt }) => sentAt <= (first.finishedAt ?? 0))) {
    yield `job ${id} is cancelled ${line(first)}, and nobody asked for that`
  }
  for (const request of requests) {
    const answer = views.find((view) => view.line === request.line)
    if (answer && answer.status !== 'cancelled') yield `job ${id} is ${answer.status} after its cancel ${line(request)}`
    const live = views.find((view) => !isFinal(view) && view.sentAt > request.at)
    if (request.code === 'job_finished' && (live ?? first)) {
      yield `job ${id} could not be cancelled ${line(request)}, yet it is ${(live ?? first)?.status}`
    }
  }
}

/** After the last process the file is whole, no job in it is live, and it holds what was told, to the byte. */
export const storedAsTold: Rule = function* ({ jobs, integrity, lives }) {
  if (integrity !== 'ok') yield `SQLite says of the file: ${integrity}`
  const end = Math.max(...lives.map(({ exitAt }) => exitAt))
  for (const job of jobs.values()) {
    if (job.stored) yield* storedFaults(job)
    else if (latestExpiry(job.views) > end) yield `job ${job.id} of ${createdAtOf(job)} is not in the file`
  }
}

function* storedFaults({ id, views, tellings, stored }: JobHistory): Generator<string> {
  if (stored === undefined) return
  const { status, outcomes, targetsDone, targetsFailed, expiresAt } = stored
  if (!isFinal(stored)) yield `job ${id} is stored as ${status}`
  const ended = outcomes.filter((outcome) => outcome !== null)
  const failed = ended.filter((outcome) => outcome.startsWith('{"error"'))
  if (ended.length !== targetsDone || failed.length !== targetsFailed) {
    yield `job ${id} is stored with ${targetsDone} outcomes and ${targetsFailed} failures, and has ${ended.length} and ${failed.length}`
  }
  const last = views.find(isFinal)
  if (last && last.status !== status)
    yield `job ${id} is stored as ${status}, and was told to be ${last.status} ${line(last)}`
  if (latestExpiry(views) > expiresAt) yield `job ${id} is stored with a lease that ends earlier than was told`
  for (const telling of tellings) {
    const { idx, text, hasResult } = telling.outcome
    const outcome = outcomes[idx]
    if (typeof outcome !== 'string')
      yield `${named(id, idx)} is stored without the outcome that was told ${line(telling)}`
    else if (hasResult && !text.endsWith(`,${outcome.slice(1)}`)) {
      yield `${named(id, idx)} is stored as ${outcome.slice(0, 200)}, and was told as ${text.slice(0, 200)} ${line(telling)}`
    }
  }
}
