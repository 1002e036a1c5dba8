import type { Asked, History, JobHistory, Life, View } from '../history.ts'

/** Tells everything in a history that contradicts one promise of the service, a sentence each. */
export type Rule = (history: History) => Iterable<string>

/**
 * Milliseconds by which the lab may write a request down after it was sent, as it does many things at once. Only where
 * something came too late does this matter: nothing is ever written down too early.
 */
export const LAB_LATE_MS = 3_000
/** Milliseconds from the moment that the service takes for an event to the one at which the event is durable. */
export const COMMIT_MS_MAX = 2_000

const LIVE = ['queued', 'running']

export const isFinal = ({ status }: Pick<View, 'status'>): boolean => !LIVE.includes(status)

/** The views of a job whose answer was complete before `at`. */
export const viewsBefore = ({ views }: JobHistory, at: number): View[] => views.filter((view) => view.at < at)

/** The latest end of the lease among these views; -Infinity for none. It only ever moves on. */
export const latestExpiry = (views: readonly View[]): number =>
  views.reduce((latest, { expiresAt }) => Math.max(latest, expiresAt), -Infinity)

/** When the job was created, by its views; undefined if there are none. */
export const createdAtOf = ({ views }: JobHistory): number | undefined => views[0]?.createdAt

/** The job that a request names, if its caller was shown it at any time. */
export function ownJob({ path, caller }: Asked, { jobs }: Pick<History, 'jobs'>): JobHistory | undefined {
  const [, , id = ''] = new URL(path, 'http://service').pathname.split('/')
  const job = jobs.get(id)
  return job?.callers.has(caller) ? job : undefined
}

/** The process that a moment falls into. */
export const lifeAt = ({ lives }: History, at: number): Life | undefined =>
  lives.find(({ startAt, exitAt }) => startAt <= at && at <= exitAt)

/** Spans in which the service need not answer: from the first signal, or the end, of a process until the next answers. */
export function downtimes({ lives }: History): { readonly from: number; readonly to: number }[] {
  const ends = lives.map(({ signalAt, exitAt }) => Math.min(signalAt, exitAt))
  return [-Infinity, ...ends].map((from, index) => ({ from, to: lives[index]?.upAt ?? Infinity }))
}

/** How a target is named in a message. */
export const named = (id: string, idx: number): string => `job ${id} target ${idx}`

/** Where in the log something is told. */
export const line = ({ line: number }: { readonly line: number }): string => `(line ${number})`
