import { setImmediate } from 'node:timers/promises'

import { jobNotFound } from '../errors.ts'
import { toJobSummary } from '../jobs/job-summary.ts'
import type { JobSummary, TargetView } from '../jobs/schema.ts'
import type { JobService } from '../jobs/service.ts'
import { isFinal } from '../jobs/states.ts'
import type { JobRecord, JobSnapshot, TargetRecord } from '../jobs/store.ts'

/** Bytes of an outcome after which others get their turn: reading that much takes a while. */
const PAUSE_BYTES_MIN = 65_536

export interface JobBodyView {
  readonly reused?: boolean
  /** Whether the content of done targets is in it. */
  readonly results: boolean
}

/** Jobs and targets as JSON. Outcomes are taken over as they were stored, one at a time, and not parsed. */
export interface JobBodies {
  /** A whole job, in pieces. */
  job(snapshot: JobSnapshot, view: JobBodyView): AsyncGenerator<string | Uint8Array, void, undefined>
  /**
   * One target, in pieces. A failed one always says why.
   * @throws {AppError} `job_not_found` if its outcome was purged meanwhile: what is cut off must look cut off.
   */
  target(jobId: string, target: TargetRecord, view: JobBodyView): AsyncGenerator<string | Uint8Array, void, undefined>
  summary(job: JobRecord): JobSummary
}

/** @param targetTimeoutMs milliseconds that a target can take. */
export function createJobBodies(readOutcome: JobService['readOutcome'], targetTimeoutMs: number): JobBodies {
  const summary = (job: JobRecord) => ({ ...toJobSummary(job), ...worstCase(job, targetTimeoutMs) })

  async function* target(jobId: string, record: TargetRecord, { results }: JobBodyView) {
    const head = JSON.stringify(toTargetHead(record))
    if (record.status === 'pending' || (record.status === 'done' && !results)) {
      yield head
      return
    }
    const outcome = await readOutcome(jobId, record.idx)
    if (!outcome) throw jobNotFound()
    yield `${head.slice(0, -1)},`
    yield outcome.subarray(1) // Its brace opened where the head's has been left out.
    if (outcome.length > PAUSE_BYTES_MIN) await setImmediate()
  }

  return {
    summary,
    target,
    async *job({ job, targets }, view) {
      const { reused } = view
      const head = JSON.stringify({ ...summary(job), ...(reused === undefined ? {} : { reused }) })
      yield `${head.slice(0, -1)},"targets":[`
      for (const [position, record] of targets.entries()) {
        if (position > 0) yield ','
        yield* target(job.id, record, view)
      }
      yield ']}'
    },
  }
}

/** What is known of a target beside its outcome. */
export function toTargetHead({ idx, customId, url, status }: TargetRecord): TargetView {
  return { idx, ...(customId === undefined ? {} : { custom_id: customId }), url, status }
}

/** While the job is live: how long that can last. */
function worstCase({ status, targetsTotal, targetsDone }: JobRecord, targetTimeoutMs: number) {
  if (isFinal(status)) return {}
  return { worst_case_s: Math.ceil(((targetsTotal - targetsDone) * targetTimeoutMs) / 1_000) }
}
