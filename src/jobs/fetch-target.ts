import type { TargetFailure, TargetOptions, TargetResult } from './schema.ts'

/** What to fetch. The options are the target's own over the job's defaults. */
export interface TargetRequest {
  readonly url: string
  readonly options: TargetOptions
}

/** How a target ended. */
export type Outcome = { readonly result: TargetResult } | { readonly failure: TargetFailure }

/**
 * Fetches one target and gives its outcome. A page that cannot be had is an outcome (`failure`), not an exception;
 * only a bug or an abort rejects.
 *
 * @param signal aborts at the target's deadline and when the service stops.
 */
export type FetchTarget = (target: TargetRequest, signal: AbortSignal) => Promise<Outcome>
