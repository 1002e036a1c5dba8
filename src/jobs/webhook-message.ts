import assert from 'node:assert/strict'

import { toJobSummary } from './job-summary.ts'
import type { JobFinished, TargetFailure } from './schema.ts'
import type { DueWebhook, JobRecord } from './store.ts'
import { signWebhook } from './webhook-signature.ts'

/** What one attempt sends. */
export interface WebhookMessage {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON. The signature is over these very characters. */
  readonly body: string
}

/** The status of the answer, or why there was none. */
export type WebhookAnswer = { readonly status: number } | { readonly failure: Omit<TargetFailure, 'hint'> }

/**
 * Sends a message once. A server that cannot be reached is an answer (`failure`), not an exception; only a bug or an
 * abort rejects. A redirect is an answer like any other.
 */
export type DeliverWebhook = (message: WebhookMessage, signal: AbortSignal) => Promise<WebhookAnswer>

export interface MessageOptions {
  /** At least one. Each signs. */
  readonly secrets: readonly Uint8Array[]
  /** Where callers reach the service; undefined if that is not known, and the link is a path then. */
  readonly publicUrl: string | undefined
}

/**
 * The message of a webhook. Its id and its body are the same in every attempt, its signature is not.
 * @param at of the attempt, in milliseconds since the Unix epoch.
 */
export function createMessage(
  { job, webhook, messageId }: DueWebhook,
  { secrets, publicUrl }: MessageOptions,
  at: number,
): WebhookMessage {
  const body = JSON.stringify(toEvent(job, publicUrl))
  const signed = signWebhook(secrets, { id: messageId, at, body })
  return { url: webhook.url, headers: { 'content-type': 'application/json', ...signed }, body }
}

function toEvent(job: JobRecord, publicUrl: string | undefined): JobFinished {
  const { webhook, ...summary } = toJobSummary(job)
  assert(summary.finished_at !== undefined, 'a webhook is due when its job has ended')
  return {
    type: 'job.finished',
    timestamp: summary.finished_at,
    data: { ...summary, url: linkTo(`/jobs/${job.id}`, publicUrl) },
  }
}

/** A service can live below a path of its public URL. */
function linkTo(path: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return path
  const { origin, pathname } = new URL(publicUrl)
  return `${origin}${pathname.replace(/\/+$/, '')}${path}`
}
