import type { History, JobHistory, Submission, View } from '../history.ts'
import { COMMIT_MS_MAX, createdAtOf, isFinal, latestExpiry, lifeAt, line, type Rule, viewsBefore } from './rule.ts'

/** The same submission of a caller is the same job until its lease ends, whatever happened in between. */
export const idempotent: Rule = function* ({ submissions, jobs }) {
  const readable = submissions.filter(({ key }) => key !== undefined)
  for (const [, same] of Map.groupBy(readable, ({ key }) => key)) {
    const ids = new Set(same.flatMap(({ id }) => id ?? []))
    const known = [...ids].flatMap((id) => jobs.get(id) ?? [])
    for (const submission of same) yield* sameJob(submission, same, known)
    yield* createdTwice(same, known)
  }
}

function* sameJob(
  submission: Submission,
  same: readonly Submission[],
  known: readonly JobHistory[],
): Generator<string> {
  const { id, reused, reuse, status, urls, caller, sentAt, at, problem } = submission
  const what = `${caller}: the submission ${line(submission)}`
  const held = known.filter((job) => latestExpiry(viewsBefore(job, sentAt)) > at)
  const isRefused = problem?.code === 'caller_busy' || problem?.code === 'jobs_busy'
  if (reuse && held.length > 0 && isRefused) yield `${what} was refused with ${problem.code} though its job is there`
  if (id === undefined) return
  const job = known.find((one) => one.id === id)
  const view = job?.views.find((one) => one.line === submission.line)
  if (view && (status === 200) !== isFinal(view))
    yield `${what} was answered ${status} with a job that is ${view.status}`
  if (view && JSON.stringify(view.targets?.map(({ url }) => url)) !== JSON.stringify(urls)) {
    yield `${what} was answered with job ${id}, which has other targets`
  }
  const isKnown = same.some((other) => other.id === id && other.line !== submission.line && other.sentAt < at)
  if (reused === false) {
    if (reuse && held.length > 0) yield `${what} made job ${id} though ${held.map((one) => one.id).join(', ')} is there`
    if (job && viewsBefore(job, sentAt).length > 0) yield `${what} made job ${id}, which was there before`
  } else {
    if (!reuse) yield `${what} asked for a new job and got ${id}`
    const isLeftOver = same.some((other) => !other.isAnswered && other.sentAt < at)
    if (!isKnown && !isLeftOver) yield `${what} was answered with job ${id} of another submission`
    if (view && isFinal(view) && view.expiresAt <= sentAt)
      yield `${what} was answered with job ${id}, which had expired`
  }
}

/** No two submissions make the same job, and none makes a second one while the lease of a first lasts. */
function* createdTwice(same: readonly Submission[], known: readonly JobHistory[]): Generator<string> {
  const made = same.filter(({ reused }) => reused === false)
  for (const [id, makers] of Map.groupBy(made, (submission) => submission.id)) {
    if (makers.length > 1) yield `job ${id} was made by ${makers.length} submissions ${makers.map(line).join(' ')}`
  }
  for (const { id, reuse } of made) {
    const job = known.find((one) => one.id === id)
    const createdAt = job && createdAtOf(job)
    if (!reuse || createdAt === undefined) continue
    const held = known.find((one) => one.id < String(id) && latestExpiry(one.views) > createdAt)
    if (held) yield `job ${id} was made at ${createdAt}, while the same submission had job ${held.id}`
  }
}

interface Span {
  readonly id: string
  readonly caller: string
  readonly from: number
  readonly to: number
}

/** Never are more jobs live than the caps allow, of one caller and in all. */
export const capsKept: Rule = function* ({ jobs, settings }) {
  const spans = [...jobs.values()].flatMap(liveSpan)
  for (const { id, caller, from } of spans) {
    const live = spans.filter((span) => span.from <= from && from < span.to)
    const own = live.filter((span) => span.caller === caller)
    if (own.length > settings.jobsPerCallerMax)
      yield `job ${id} is one of ${own.length} live jobs of ${caller} at ${from}`
    if (live.length > settings.jobsTotalMax) yield `job ${id} is one of ${live.length} live jobs at ${from}`
  }
}

/** When the job was certainly live: by what it says itself, and by the answers that show it live. */
function liveSpan({ id, callers, views }: JobHistory): Span[] {
  const live = views.filter((view) => !isFinal(view))
  const ended = views.find(isFinal)?.finishedAt
  const [caller = ''] = callers
  const from = Math.min((views[0]?.createdAt ?? Infinity) + COMMIT_MS_MAX, ...live.map(({ at }) => at))
  const to = Math.max((ended ?? -Infinity) - COMMIT_MS_MAX, ...live.map(({ sentAt }) => sentAt))
  return from < to ? [{ id, caller, from, to }] : []
}

/** Whoever is refused was over a cap, and is told which; whoever is over the cap of targets is refused. */
export const fairRefusals: Rule = function* (history) {
  for (const submission of history.submissions) {
    const fault = faultOf(submission, history)
    if (fault !== undefined) yield `${submission.caller}: the submission ${line(submission)} ${fault}`
  }
}

function faultOf(submission: Submission, history: History): string | undefined {
  const { settings } = history
  const { urls, status, problem, isAnswered } = submission
  if (!isAnswered) return undefined
  const isTooLong = urls.length > settings.targetsPerJobMax
  if (isTooLong !== (problem?.code === 'too_many_targets')) {
    // Whatever else is wrong is told first.
    return isTooLong && (problem?.code === 'validation_failed' || status === 503)
      ? undefined
      : `of ${urls.length} targets was answered ${status} ${problem?.code ?? ''}`
  }
  if (problem?.code === 'too_many_targets') return limitFault(problem.limit, settings.targetsPerJobMax)
  if (problem?.code === 'caller_busy') return callerFault(submission, history)
  if (problem?.code === 'jobs_busy') {
    const most = [...history.jobs.values()].filter((job) => canTakePlace(job, submission, history))
    if (most.length + unknown(submission, history) < settings.jobsTotalMax) {
      return `was refused with jobs_busy while at most ${most.length} jobs were live`
    }
    return limitFault(problem.limit, settings.jobsTotalMax)
  }
  return undefined
}

function callerFault(submission: Submission, history: History): string | undefined {
  const { settings, jobs } = history
  const { caller, problem, sentAt } = submission
  const own = [...jobs.values()].filter(({ callers }) => callers.has(caller))
  const most = own.filter((job) => canTakePlace(job, submission, history))
  if (most.length + unknown(submission, history, caller) < settings.jobsPerCallerMax) {
    return `was refused with caller_busy while at most ${most.length} jobs of the caller were live`
  }
  const ended = problem?.jobs?.find((id) => viewsBefore(jobs.get(id) ?? NO_JOB, sentAt).some(isFinal))
  if (ended !== undefined) return `was refused with caller_busy for job ${ended}, which had ended`
  return limitFault(problem?.limit, settings.jobsPerCallerMax)
}

const NO_JOB = { views: [] as View[] } as JobHistory

const limitFault = (limit: number | undefined, expected: number): string | undefined =>
  limit === expected ? undefined : `was refused with the limit ${limit}, which is ${expected}`

/** Whether the job can have been live, or cancelled with a target in flight, while the submission was looked at. */
function canTakePlace({ views }: JobHistory, { sentAt, at }: Submission, history: History): boolean {
  const [first] = views
  const life = lifeAt(history, sentAt)
  if (first === undefined || life === undefined || first.createdAt < life.startAt || first.createdAt > at) return false
  const end = views.find(isFinal)
  const lingersMs = end?.status === 'cancelled' ? history.settings.targetTimeoutMs : 0
  return (end?.finishedAt ?? Infinity) + lingersMs + COMMIT_MS_MAX >= sentAt
}

/** How many jobs of this process there can be that nobody has been told of: those of submissions without an answer. */
function unknown({ sentAt, at }: Submission, history: History, caller?: string): number {
  const from = lifeAt(history, sentAt)?.startAt ?? -Infinity
  return history.submissions.filter(
    (other) =>
      !other.isAnswered && from <= other.at && other.sentAt <= at && (caller === undefined || other.caller === caller),
  ).length
}
