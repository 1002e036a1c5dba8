import { setImmediate } from 'node:timers/promises'

import type { JobSummary, TargetView } from '../jobs/schema.ts'
import type { JobService } from '../jobs/service.ts'
import type { JobRecord, JobSnapshot, TargetRecord } from '../jobs/store.ts'

type ReadOutcome = JobService['readOutcome']

interface JobBodyOptions {
  /** In the answer to a submission: whether the job was there already. */
  readonly reused?: boolean
  /** Whether the results of targets that are done are part of it. Failures always are. */
  readonly results: boolean
}

/**
 * A job as JSON, in pieces. Stored outcomes go in byte for byte, one read at a time: they are megabytes each, and parsing
 * them would stall everyone else.
 */
export async function* jobBody(
  { job, targets }: JobSnapshot,
  readOutcome: ReadOutcome,
  { reused, results }: JobBodyOptions,
): AsyncGenerator<string | Uint8Array> {
  const head = JSON.stringify({ ...toJobSummary(job), ...(reused === undefined ? {} : { reused }) })
  yield `${head.slice(0, -1)},"targets":[`
  for (const [position, target] of targets.entries()) {
    if (position > 0) yield ','
    yield* targetBody(job.id, target, readOutcome, results)
  }
  yield ']}'
}

/** One target as JSON, in pieces. @throws {Error} if its outcome was purged meanwhile: what is cut off must look cut off. */
export async function* targetBody(
  jobId: string,
  target: TargetRecord,
  readOutcome: ReadOutcome,
  results = true,
): AsyncGenerator<string | Uint8Array> {
  const head = JSON.stringify(toTargetHead(target))
  if (target.status === 'pending' || (target.status === 'done' && !results)) {
    yield head
    return
  }
  const outcome = await readOutcome(jobId, target.idx)
  if (!outcome) throw new Error('the job expired while it was read')
  yield `${head.slice(0, -1)},`
  yield outcome.subarray(1) // Its brace opened where the head's has been left out.
  await setImmediate()
}

function toTargetHead({ idx, customId, url, status }: TargetRecord): TargetView {
  return { idx, ...(customId === undefined ? {} : { custom_id: customId }), url, status }
}

export function toJobSummary(job: JobRecord): JobSummary {
  return {
    id: job.id,
    status: job.status,
    targets_total: job.targetsTotal,
    targets_done: job.targetsDone,
    targets_failed: job.targetsFailed,
    ...(job.error === undefined ? {} : { error: job.error }),
    created_at: toTime(job.createdAt),
    ...(job.startedAt === undefined ? {} : { started_at: toTime(job.startedAt) }),
    ...(job.finishedAt === undefined ? {} : { finished_at: toTime(job.finishedAt) }),
    expires_at: toTime(job.expiresAt),
  }
}

/** RFC 3339 in UTC. */
function toTime(at: number): string {
  return new Date(at).toISOString()
}
