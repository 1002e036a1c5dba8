import type { JobRecord } from '../jobs/store.ts'

/**
 * A weak entity tag (RFC 9110 §8.8.3) of a job: it changes with every outcome, every status and every attempt on its
 * webhook, and with nothing else.
 */
export function jobTag({ status, targetsDone, webhook }: JobRecord): string {
  const attempts = webhook === undefined ? '' : `-${webhook.state}-${webhook.attempts}`
  return `W/"${status}-${targetsDone}${attempts}"`
}

/**
 * Whether `If-None-Match` holds the tag, by weak comparison (RFC 9110 §13.1.2). Proxies that compress add the name of
 * the coding to a tag; that is still the same job.
 */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = opaqueOf(tag)
  return ifNoneMatch.split(',').some((candidate) => opaqueOf(candidate.trim()) === opaque)
}

const opaqueOf = (tag: string): string => tag.replace(/^W\//i, '').replace(/(?:--?|;)(?:gzip|br|zstd|deflate)"$/i, '"')
