import type { JobSummary, WebhookView } from './schema.ts'
import type { JobRecord, WebhookRecord } from './store.ts'

/** A job as callers are shown it, without its targets and without what is only an estimate. */
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
    ...(job.retryOf === undefined ? {} : { retry_of: job.retryOf }),
    ...(job.webhook === undefined ? {} : { webhook: toWebhookView(job.webhook) }),
  }
}

function toWebhookView({ url, state, attempts, lastError }: WebhookRecord): WebhookView {
  return { url, state, attempts, ...(lastError === undefined ? {} : { last_error: lastError }) }
}

/** RFC 3339 in UTC. */
function toTime(at: number): string {
  return new Date(at).toISOString()
}
