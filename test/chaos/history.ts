import type { Entry, Exchange, Settings, StoredJob } from './log.ts'

/** What is told of a target that has ended. Texts are compared as they are, so that nothing of them may change. */
export interface Outcome {
  readonly idx: number
  readonly status: string
  readonly error: string | undefined
  readonly message: string | undefined
  /** Of a done target, if the answer had results. */
  readonly content: string | undefined
  /** All that was told of it, in JSON. */
  readonly text: string
  readonly hasResult: boolean
}

/** A job as one answer told it. The service read it between `sentAt` and `at`. */
export interface View {
  readonly line: number
  readonly caller: string
  readonly sentAt: number
  readonly at: number
  readonly status: string
  readonly error: string | undefined
  readonly total: number
  readonly done: number
  readonly failed: number
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly finishedAt: number | undefined
  readonly expiresAt: number
  /** Undefined in a list of jobs, which has no targets. */
  readonly targets: readonly TargetSeen[] | undefined
}

/** A target within a view; without an outcome it is pending. */
export interface TargetSeen {
  readonly url: string
  readonly idx: number
  readonly status: string
  readonly outcome: Outcome | undefined
  /** Whether exactly the fields are there that its status asks for. */
  readonly isConsistent: boolean
}

/** An outcome as one answer told it. */
interface Telling {
  readonly line: number
  readonly sentAt: number
  readonly at: number
  readonly outcome: Outcome
}

/** Everything that was told of a job. */
export interface JobHistory {
  readonly id: string
  /** Whoever was shown it. */
  readonly callers: Set<string>
  readonly views: View[]
  readonly tellings: Telling[]
  /** In order, as they were sent; empty if no answer had them. */
  urls: readonly string[]
  /** Options of each target, undefined if nobody got to know whose submission it was. */
  options: readonly Options[] | undefined
  stored: StoredJob | undefined
}

/** Options of a target, by name. */
export type Options = Readonly<Record<string, unknown>>

/** An exchange without its bodies. */
export interface Asked extends Omit<Exchange, 'kind' | 'sent' | 'answer'> {
  readonly line: number
  /** Of an answer that is a problem: its code. */
  readonly code: string | undefined
  /** Whether the answer was one of JSON and did parse, or was none. */
  readonly isReadable: boolean
}

/** A request for a job. */
export interface Submission extends Asked {
  /** The caller and what was asked for, in one spelling for all that means the same. Undefined if it cannot be read. */
  readonly key: string | undefined
  readonly reuse: boolean
  /** Whether the caller knows what came of it. */
  readonly isAnswered: boolean
  readonly urls: readonly string[]
  /** Of an answer with a job. */
  readonly id: string | undefined
  readonly reused: boolean | undefined
  readonly problem: Problem | undefined
}

/** Why something was refused. */
export interface Problem {
  readonly code: string
  readonly limit?: number
  readonly cap?: string
  readonly jobs?: readonly string[]
}

/** What a follower, or a reader of lines, was told. */
export interface Lines extends Asked {
  readonly id: string
  readonly from: number
  readonly isFollowed: boolean
  readonly idxs: readonly number[]
}

/** The content of a target, and nothing else. */
export interface BareContent extends Asked {
  readonly id: string
  readonly idx: number
  readonly content: string
}

/** A page of the list of jobs. */
export interface Listing extends Asked {
  readonly ids: readonly string[]
  readonly isLastPage: boolean
  readonly after: string | undefined
}

/** One process of the service. Infinity if it has not come to that. */
export interface Life {
  /** Which one it is, from 1. */
  readonly number: number
  readonly startAt: number
  readonly upAt: number
  /** The first signal, and its time. */
  readonly signal: 'kill' | 'term' | undefined
  readonly signalAt: number
  /** Whether a kill came at any time. */
  readonly isKilled: boolean
  readonly exitAt: number
  readonly code: number | string | null | undefined
}

/** A request that the lab saw. */
export interface Request {
  readonly behaviour: string
  /** Path and query. */
  readonly path: string
  readonly at: number
  /** Infinity if it has not ended. */
  endAt: number
}

/** All that is known of a run, in the order in which it was written down. */
export interface History {
  readonly settings: Settings
  readonly asked: readonly Asked[]
  readonly submissions: readonly Submission[]
  readonly lines: readonly Lines[]
  readonly listings: readonly Listing[]
  readonly bareContents: readonly BareContent[]
  readonly jobs: ReadonlyMap<string, JobHistory>
  readonly lives: readonly Life[]
  readonly requests: readonly Request[]
  readonly touches: readonly Extract<Entry, { kind: 'touch' }>[]
  readonly ticks: readonly Extract<Entry, { kind: 'tick' }>[]
  readonly integrity: string | undefined
}
