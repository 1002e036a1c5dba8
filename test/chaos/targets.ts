import type { History, JobHistory, Outcome, Request, View } from './history.ts'
import type { Expectation } from './log.ts'

/** One target of a job, with all that both logs say of it. */
export interface TargetHistory {
  readonly job: JobHistory
  readonly idx: number
  readonly url: string
  readonly expectation: Expectation | undefined
  /** The first telling of its outcome that has the result, if there is one. */
  readonly outcome: Outcome | undefined
  /** Until then the target before it was pending, by some answer; that of the first is the creation of the job. */
  readonly notBefore: number
  /** By then its outcome had been told. Infinity if it never was. */
  readonly toldAt: number
  /** Requests for its URL, in order. Other jobs may ask for the same one. */
  readonly requests: readonly Request[]
}

/** Targets of all jobs by the behaviour and path of their URL: more than one where a submission was sent again. */
export type TargetsByPlace = ReadonlyMap<string, readonly TargetHistory[]>

/** Without the query, in which redirects count. */
export const pathOf = (path: string): string => path.split('?', 1)[0] ?? ''

/** Where the lab sees requests for a URL. */
export const placeOf = ({ behaviour, path }: Pick<Request, 'behaviour' | 'path'>): string =>
  `${behaviour} ${pathOf(path)}`

/** Puts together what is known of each target. */
export function targetsOf(history: History): TargetHistory[] {
  const expectations = new Map(history.settings.expectations.map((expected) => [expected.origin, expected]))
  const requests = Map.groupBy(history.requests, placeOf)
  return [...history.jobs.values()].flatMap((job) => {
    const bounds = boundsOf(job)
    const told = new Map<number, Outcome>()
    for (const { outcome } of job.tellings)
      if (outcome.hasResult && !told.has(outcome.idx)) told.set(outcome.idx, outcome)
    return job.urls.map((url, idx): TargetHistory => {
      const expectation = expectations.get(new URL(url).origin)
      return {
        job,
        idx,
        url,
        expectation,
        outcome: told.get(idx),
        notBefore: bounds.notBefore(idx),
        toldAt: bounds.toldAt(idx),
        requests: requests.get(placeOfTarget({ url, expectation })) ?? [],
      }
    })
  })
}

/** Puts those together that the lab cannot tell apart. */
export const byPlace = (targets: readonly TargetHistory[]): TargetsByPlace => Map.groupBy(targets, placeOfTarget)

const placeOfTarget = ({ url, expectation }: Pick<TargetHistory, 'url' | 'expectation'>): string =>
  placeOf({ behaviour: expectation?.name ?? '', path: new URL(url).pathname })

/** What the answers say of when the targets of a job can have been in flight. */
function boundsOf({ views, tellings }: JobHistory) {
  const createdAt = views[0]?.createdAt ?? -Infinity
  /** By count of outcomes: the last request that was answered with it, and the first answer that told so many. */
  const lastAsked: number[] = []
  const firstTold: number[] = []
  const see = (done: number, { sentAt, at }: Pick<View, 'sentAt' | 'at'>) => {
    firstTold[done] = Math.min(firstTold[done] ?? Infinity, at)
    lastAsked[done] = Math.max(lastAsked[done] ?? -Infinity, sentAt)
  }
  for (const view of views) see(view.done, view)
  for (const { outcome, at } of tellings) see(outcome.idx + 1, { sentAt: -Infinity, at })
  return {
    notBefore: (idx: number) => Math.max(createdAt, ...lastAsked.slice(0, idx).filter((at) => at !== undefined)),
    toldAt: (idx: number) => Math.min(Infinity, ...firstTold.slice(idx + 1).filter((at) => at !== undefined)),
  }
}
