import { endingOf } from '../endings.ts'
import type { History, Request, Submission } from '../history.ts'
import { byPlace, pathOf, placeOf, type TargetHistory, targetsOf } from '../targets.ts'
import { isFinal, LAB_LATE_MS, lifeAt, line, named, type Rule } from './rule.ts'

/** Milliseconds by which the two ends of one pause may be written down unevenly. */
const UNEVEN_MS = 50
/** Milliseconds before the end of its time at which a conversion is given up. */
const EARLY_MS = 1_000
/** These and timeouts also come of a host that lets nobody in for a while, without a request. */
const PAUSED: ReadonlySet<string | undefined> = new Set(['http_429', 'http_503', 'timeout'])

/** Every target ends as its URL is meant to: with the content of that very URL, or with the code of its fault. */
export const rightOutcome: Rule = function* (history) {
  const { targetTimeoutMs } = history.settings
  const places = byPlace(targetsOf(history))
  for (const target of [...places.values()].flat()) {
    const { job, idx, url, outcome, expectation } = target
    if (outcome === undefined) continue
    const what = `${named(job.id, idx)} (${url})`
    const ending = endingOf(target)
    if (expectation === undefined) yield `${what} is of no known kind`
    else if (ending === 'late') {
      const longest = longestTime(target, history)
      if (longest < targetTimeoutMs - EARLY_MS - UNEVEN_MS) yield `${what} timed out after at most ${longest} ms`
    } else if (ending === 'other') {
      yield `${what} ended as ${outcome.error ?? 'done'}, not as ${expectation.outcome}: ${outcome.message ?? ''}`
    } else if (outcome.content !== undefined && !hasContent(outcome.content, target)) {
      yield `${what} has the content ${JSON.stringify(outcome.content.slice(0, 200))}`
    }
  }
}

/** Milliseconds that the target can have been in flight, by all that is known. */
function longestTime({ job, idx, notBefore, toldAt }: TargetHistory, { lives, settings }: History): number {
  const outcomeAt = (done: number) => {
    const view = job.views.find((one) => one.done === done)
    return view && view.expiresAt - settings.leaseMs
  }
  const from = Math.max(notBefore, (idx > 0 && outcomeAt(idx)) || notBefore)
  const exit = lives.find(({ startAt, exitAt }) => startAt <= from && from <= exitAt)?.exitAt
  return Math.min(toldAt, outcomeAt(idx + 1) ?? Infinity, exit ?? Infinity) - from
}

function hasContent(content: string, { url, expectation, job, idx }: TargetHistory): boolean {
  const expected = expectation?.content
  if (expected === undefined || job.options === undefined) return true
  const grep = job.options[idx]?.grep
  if ('pattern' in expected) return new RegExp(expected.pattern, expected.flags).test(content)
  const { pathname, search } = new URL(url)
  const whole = 'text' in expected ? expected.text : pathname + search
  return content === (typeof grep !== 'string' || whole.includes(grep) ? whole : '')
}

/**
 * The lab sees a request for a target only while that target can be in flight: the job is there, the outcome of the
 * target before is durable, its own is not told yet, nobody has cancelled the job before its turn came, and the process
 * that had the job lives. This is the order of the targets, and the silence after the end of a job.
 */
export const onlyInFlight: Rule = function* (history) {
  const places = byPlace(targetsOf(history))
  const unanswered = history.submissions.filter(({ isAnswered }) => !isAnswered)
  for (const request of history.requests) {
    const targets = places.get(placeOf(request)) ?? []
    const faults = targets.map((target) => faultOf(request, target, history))
    if (faults.includes(undefined) || isGhost(request, unanswered)) continue
    const what = `the lab saw ${request.path} of ${request.behaviour} at ${request.at}`
    if (targets.length > 0) yield `${what}: ${faults.join('; ')}`
    else if (!isOfNoTarget(request)) yield `${what}, which no job asks for`
  }
}

/** Why the request cannot be one for the target. */
function faultOf({ at }: Request, target: TargetHistory, history: History): string | undefined {
  const { job, idx, notBefore, toldAt } = target
  const what = named(job.id, idx)
  if (at < notBefore) return `${what} cannot start before ${notBefore}`
  if (at > toldAt + LAB_LATE_MS) return `${what} had an outcome by ${toldAt}`
  const stop = job.views.find((view) => isFinal(view) && view.done < idx)
  if (stop) return `the job of ${what} ended before its turn ${line(stop)}`
  const life = lifeAt(history, job.views[0]?.createdAt ?? at)
  if (life && at > life.exitAt + LAB_LATE_MS) return `the process that had ${what} ended at ${life.exitAt}`
  return undefined
}

/** Whether the request may be for a job whose id no caller ever got to know, as the process died before it could tell. */
const isGhost = ({ path, at }: Request, unanswered: readonly Submission[]): boolean =>
  unanswered.some(({ sentAt, urls }) => sentAt <= at && urls.some((url) => new URL(url).pathname === pathOf(path)))

/** Whether the request is for a place that a redirect led to, beside the URLs that were submitted. */
const isOfNoTarget = ({ path }: Request): boolean => !pathOf(path).startsWith('/batch-')

/** Of one job, the lab is asked for a target only after its requests for the one before have ended. */
export const inOrder: Rule = function* (history) {
  const targets = targetsOf(history)
  const places = byPlace(targets)
  const alone = new Set([...places.values()].filter(({ length }) => length === 1).flat())
  for (const own of Map.groupBy(targets, ({ job }) => job).values()) {
    let ended = -Infinity
    for (const { job, idx, requests } of own.filter((target) => alone.has(target))) {
      const [first] = requests
      if (first && first.at < ended - UNEVEN_MS) {
        yield `${named(job.id, idx)} was asked for at ${first.at}, before the request of an earlier target ended at ${ended}`
      }
      ended = Math.max(ended, ...requests.map(({ endAt }) => endAt))
    }
  }
}

/** The lab sees as many requests for a target as its kind asks for: none for what is refused, no more than three. */
export const rightTries: Rule = function* (history) {
  const unanswered = history.submissions.filter(({ isAnswered }) => !isAnswered)
  for (const targets of byPlace(targetsOf(history)).values()) {
    const [target] = targets
    const expected = target?.expectation?.requests
    if (target === undefined || expected === undefined) continue
    const { job, idx, url, outcome, requests } = target
    const ghosts = unanswered.filter(({ urls }) => urls.includes(url)).length
    const most = expected * (targets.length + ghosts)
    const what = `${named(job.id, idx)} (${url})`
    if (requests.length > most) yield `${what} was asked for ${requests.length} times, at most ${most} are right`
    const isPlain = targets.length === 1 && ghosts === 0 && !PAUSED.has(outcome?.error)
    if (outcome && isPlain && endingOf(target) === 'own' && expected === 1 && requests.length !== 1) {
      yield `${what} ended as ${outcome.error ?? 'done'} after ${requests.length} requests`
    }
  }
}

/** One request at a time goes to a host, over all jobs. */
export const oneAtATime: Rule = function* ({ requests }) {
  for (const [behaviour, own] of Map.groupBy(requests, (request) => request.behaviour)) {
    const sorted = own.toSorted((one, other) => one.at - other.at)
    for (const [index, { path, at }] of sorted.entries()) {
      const before = sorted[index - 1]
      if (before && before.endAt > at) {
        yield `${behaviour} was asked for ${path} at ${at}, before ${before.path} of ${before.at} ended at ${before.endAt}`
      }
    }
  }
}

/** Nobody ever connects to an address that is refused. */
export const nothingForbidden: Rule = function* ({ touches }) {
  for (const { at, place } of touches) yield `${place} was connected to at ${at}`
}
