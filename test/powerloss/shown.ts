import type { JobView } from '../../src/jobs/schema.ts'
import { isFinal } from '../../src/jobs/states.ts'
import type { Send } from './call.ts'
import { readResponse, type Response } from './response.ts'

/** What clients have been shown of a job: all of it must outlast a power loss. */
export interface ShownJob {
  readonly urls: readonly string[]
  /** The largest counts, and the latest end of the lease. */
  targetsDone: number
  targetsFailed: number
  expiresAtMs: number
  /** The job as it was shown when it had ended. */
  final: JobView | undefined
  /** By index: the JSON of targets with an outcome, or of the last one what went out of it so far. */
  readonly targets: Map<number, Buffer>
}

/** Reads what the service sends, and keeps what it tells its clients. */
export interface Shown {
  /** By id. */
  readonly jobs: ReadonlyMap<string, ShownJob>
  /** @returns whether it told something new. */
  take(send: Send): boolean
}

/** Stands before the outcome in each line of results. The status is shown with it, and so is that there is an outcome. */
const LINE_HEAD = /^\{"idx":(\d+),"url":"([^"]*)","status":"(?:done|failed)"/
const LINE_HEAD_BYTES_MAX = 10_000

export function createShown(): Shown {
  const jobs = new Map<string, ShownJob>()
  const jobOfUrl = new Map<string, ShownJob>()
  const unread = new Map<string, Buffer>()

  function takeTarget(job: ShownJob, idx: number, json: Buffer): boolean {
    if (json.length <= (job.targets.get(idx)?.length ?? 0)) return false
    job.targets.set(idx, json)
    return true
  }

  /** The outcomes of a job, a line each. The last one may have begun only. */
  function takeLines(body: Buffer): boolean {
    let isNew = false
    for (let start = 0; start < body.length;) {
      const newline = body.indexOf('\n', start)
      const line = body.subarray(start, newline < 0 ? body.length : newline)
      const [, idx, url = ''] = LINE_HEAD.exec(line.toString('utf8', 0, LINE_HEAD_BYTES_MAX)) ?? []
      const job = jobOfUrl.get(url)
      if (job && takeTarget(job, Number(idx), line)) isNew = true
      start += line.length + 1
    }
    return isNew
  }

  function takeJob(view: JobView): boolean {
    const job: ShownJob = jobs.get(view.id) ?? {
      urls: view.targets.map(({ url }) => url),
      targetsDone: 0,
      targetsFailed: 0,
      expiresAtMs: 0,
      final: undefined,
      targets: new Map(),
    }
    jobs.set(view.id, job)
    for (const url of job.urls) jobOfUrl.set(url, job)
    job.targetsDone = Math.max(job.targetsDone, view.targets_done)
    job.targetsFailed = Math.max(job.targetsFailed, view.targets_failed)
    job.expiresAtMs = Math.max(job.expiresAtMs, Date.parse(view.expires_at))
    if (isFinal(view.status)) job.final ??= view
    for (const target of view.targets) {
      if (target.result || target.error) takeTarget(job, target.idx, Buffer.from(JSON.stringify(target)))
    }
    return true
  }

  function takeResponse({ type, body, length }: Response): boolean {
    if (type.startsWith('application/x-ndjson')) return takeLines(body)
    if (!type.startsWith('application/json') || length === undefined) return false
    const answer = JSON.parse(body.toString()) as Partial<JobView>
    return answer.targets !== undefined && takeJob(answer as JobView)
  }

  return {
    jobs,
    take({ socket, data }) {
      let bytes = Buffer.concat([unread.get(socket) ?? Buffer.of(), data])
      let isNew = false
      while (bytes.length > 0) {
        const response = readResponse(bytes)
        if (!response) break
        isNew = takeResponse(response) || isNew
        if (response.length === undefined) break
        bytes = bytes.subarray(response.length)
      }
      unread.set(socket, bytes)
      return isNew
    },
  }
}
