import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'

import type { Database } from 'better-sqlite3'

import type { Outcome } from '../jobs/fetch-target.ts'
import { assertCaps, type DrainedJob, type JobLimits } from '../jobs/limits.ts'
import type { TargetOptions } from '../jobs/schema.ts'
import {
  finishEvent,
  isFinal,
  type JobEvent,
  type JobStatus,
  nextStatus,
  type TargetStatus,
  type WebhookState,
} from '../jobs/states.ts'
import type {
  DueWebhook,
  JobError,
  JobRecord,
  JobSnapshot,
  JobStore,
  NewJob,
  TargetRecord,
  WebhookFilter,
  WebhookRecord,
} from '../jobs/store.ts'
import { watchDatabaseFile } from './database-file.ts'
import { createGroupCommit } from './group-commit.ts'
import { openDatabase } from './open.ts'
import { storageUnavailable, toStorageError } from './storage-error.ts'

/** Pages given back to the file system after a purge. More stay in the file, to be used again. */
const VACUUM_PAGES_MAX = 2_000

/** What a target takes in the database beside its own text: its row, its key, and its share of a page. */
const TARGET_BYTES = 256

const JOB_ERRORS: Partial<Record<JobEvent, JobError>> = { crash: 'internal', restart: 'restart' }

interface JobRow {
  readonly n: number
  readonly id: string
  readonly caller: string
  readonly status: JobStatus
  readonly error: JobError | null
  readonly targets_total: number
  readonly targets_done: number
  readonly targets_failed: number
  readonly created_at: number
  readonly started_at: number | null
  readonly finished_at: number | null
  readonly expires_at: number
  readonly retry_of: string | null
  /** Null if there is no webhook. */
  readonly webhook_url: string | null
  readonly webhook_state: WebhookState | null
  readonly webhook_attempts: number | null
  readonly webhook_error: string | null
}

interface DueRow extends JobRow {
  readonly message_id: string
  readonly due_at: number
}

interface TargetRow {
  readonly idx: number
  readonly status: TargetStatus
  readonly custom_id: string | null
  readonly options: string
  readonly url: string
}

interface OutcomeRow {
  readonly text: Buffer
  /** Null if it was stored before there were checksums. */
  readonly crc: number | null
}

/**
 * Opens the job store in the file `file`, or in memory for `:memory:`.
 * @param options.bytesMax upper bound of the file, in bytes; a store that reaches it refuses new jobs.
 * @throws {StoreOpenError}
 */
export function openSqliteStore(file: string, options: { readonly bytesMax?: number } = {}): JobStore {
  const { db, close } = openDatabase(file, options.bytesMax)
  const sql = prepare(db)
  const databaseFile = watchDatabaseFile(db)
  const { write, settled } = createGroupCommit(db, databaseFile.assertInPlace, databaseFile.emptyLog, toStorageError)

  /** For what is no change: callers see its errors as they see those of changes. */
  async function run<T>(work: () => T): Promise<T> {
    try {
      return work()
    } catch (error) {
      throw toStorageError(error)
    }
  }

  const snapshot = (row: JobRow): JobSnapshot => ({
    job: toJobRecord(row),
    targets: sql.targets.all(row.n).map(toTargetRecord),
  })

  /** Applies `event` if the transition table allows it, and returns the status afterwards. */
  function apply({ n, status }: Pick<JobRow, 'n' | 'status'>, event: JobEvent, at: number): JobStatus {
    const to = nextStatus(status, event)
    if (to === undefined) return status
    const startedAt = event === 'start' ? at : null
    const { changes } = sql.setStatus.run(to, JOB_ERRORS[event] ?? null, startedAt, isFinal(to) ? at : null, n, status)
    assert.equal(changes, 1)
    if (isFinal(to)) sql.setWebhookDue.run(at, n)
    return to
  }

  function submit(
    job: NewJob,
    limits: JobLimits,
    reuse: boolean,
    draining: readonly DrainedJob[] = [],
  ): { snapshot: JobSnapshot; created: boolean } {
    const earlier = reuse ? sql.jobByKey.get(job.key, job.caller, job.createdAt) : undefined
    if (earlier) return { snapshot: snapshot(earlier), created: false }
    assertCaps(job, sql.live.all().map(toJobRecord), limits, draining)
    const { id, caller, key, targets, createdAt, expiresAt, retryOf = null, webhook } = job
    databaseFile.claim(targets.length * TARGET_BYTES + Buffer.byteLength(JSON.stringify(targets)))
    const n = Number(sql.addJob.run(id, caller, key, targets.length, createdAt, expiresAt, retryOf).lastInsertRowid)
    for (const [idx, { url, customId, options }] of targets.entries()) {
      sql.addTarget.run(n, idx, customId ?? null, JSON.stringify(options), url)
    }
    if (webhook) sql.addWebhook.run(n, webhook.messageId, webhook.url)
    apply({ n, status: 'queued' }, 'start', createdAt)
    const added = sql.jobById.get(id)
    assert(added)
    return { snapshot: snapshot(added), created: true }
  }

  function recordOutcome(id: string, idx: number, outcome: Outcome, at: number, expiresAt: number) {
    const job = sql.jobById.get(id)
    if (!job) return undefined
    const failed = 'failure' in outcome
    const text = Buffer.from(JSON.stringify(failed ? outcome.failure : outcome))
    if (!failed) databaseFile.claim(text.length)
    const { changes } = sql.setOutcome.run(failed ? 'failed' : 'done', text, crc32(text), job.n, idx)
    assert.equal(changes, 1, 'one outcome per target')
    const counts = sql.count.get(failed ? 1 : 0, expiresAt, job.n)
    assert(counts)
    if (counts.targets_done < counts.targets_total) return job.status
    return apply(job, finishEvent(counts.targets_total, counts.targets_failed), at)
  }

  function readOutcome(id: string, idx: number): Uint8Array | undefined {
    const row = sql.outcome.get(id, idx)
    if (row === undefined || row.crc === null || row.crc === crc32(row.text)) return row?.text
    throw storageUnavailable(new Error(`the outcome of target ${idx} of job ${id} is damaged`))
  }

  function nextWebhook({ exceptJobs, exceptCallers }: WebhookFilter): DueWebhook | undefined {
    const row = sql.nextWebhook.get(JSON.stringify(exceptJobs), JSON.stringify(exceptCallers))
    if (!row) return undefined
    const job = toJobRecord(row)
    assert(job.webhook)
    return { job, webhook: job.webhook, messageId: row.message_id, dueAt: row.due_at }
  }

  return {
    submit: (...job) => write(() => submit(...job)),
    recordOutcome: (...outcome) => write(() => recordOutcome(...outcome)),
    cancel: (id, caller, at) =>
      write(() => {
        const job = sql.jobById.get(id)
        if (job?.caller !== caller || isGone(job, at)) return undefined
        apply(job, 'cancel', at)
        return snapshot(sql.jobById.get(id) ?? job)
      }),
    fail: (id, at) =>
      write(() => {
        const job = sql.jobById.get(id)
        if (job) apply(job, 'crash', at)
      }),
    failInterrupted: (at) =>
      write(() => {
        const live = sql.live.all()
        for (const job of live) apply(job, 'restart', at)
        return live.length
      }),
    find: (id, caller, at) =>
      run(() => {
        const job = sql.jobById.get(id)
        return job?.caller === caller && !isGone(job, at) ? snapshot(job) : undefined
      }),
    readOutcome: (id, idx) => run(() => readOutcome(id, idx)),
    list: (caller, at, limit, after) =>
      run(() => sql.list.all(caller, at, after ?? AFTER_EVERY_ID, limit).map(toJobRecord)),
    nextWebhook: (filter) => run(() => nextWebhook(filter)),
    recordWebhook: (id, { state, dueAt = null, lastError = null }) =>
      write(() => void sql.setWebhook.run(state, dueAt, lastError, id)),
    async purgeExpired(at, signal) {
      const purgeNext = async () => !signal?.aborted && (await write(() => sql.purgeOne.run(at).changes)) > 0
      let purged = 0
      while (await purgeNext()) purged += 1
      if (purged > 0) {
        await write(() => db.pragma(`incremental_vacuum(${VACUUM_PAGES_MAX})`))
        await run(() => db.pragma('wal_checkpoint(PASSIVE)')) // Only this makes the file smaller.
      }
      return purged
    },
    size: () =>
      run(() => Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))),
    async probe() {
      const writes = await write(() => {
        databaseFile.claim(0)
        return sql.probe.get()
      })
      // Another probe may have written since, so what is read back can be ahead.
      assert(Number(sql.readProbe.get()) >= Number(writes))
    },
    async close() {
      await settled()
      close()
    },
  }
}

/** Sorts after every UUID. */
const AFTER_EVERY_ID = 'g'

const JOB_COLUMNS = `n, id, caller, status, error, targets_total, targets_done, targets_failed, created_at, started_at,
  finished_at, expires_at, retry_of, webhook.url AS webhook_url, webhook.state AS webhook_state,
  webhook.attempts AS webhook_attempts, webhook.last_error AS webhook_error`
const JOBS = 'job LEFT JOIN webhook ON webhook.job = job.n'

function prepare(db: Database) {
  return {
    jobById: db.prepare<[string], JobRow>(`SELECT ${JOB_COLUMNS} FROM ${JOBS} WHERE id = ?`),
    jobByKey: db.prepare<[Uint8Array, string, number], JobRow>(
      `SELECT ${JOB_COLUMNS} FROM ${JOBS} WHERE key = ? AND caller = ? AND expires_at > ? ORDER BY n DESC LIMIT 1`,
    ),
    live: db.prepare<[], JobRow>(`SELECT ${JOB_COLUMNS} FROM ${JOBS} WHERE finished_at IS NULL`),
    list: db.prepare<[string, number, string, number], JobRow>(
      `SELECT ${JOB_COLUMNS} FROM ${JOBS}
       WHERE caller = ? AND (finished_at IS NULL OR expires_at > ?) AND id < ? ORDER BY id DESC LIMIT ?`,
    ),
    addJob: db.prepare(
      `INSERT INTO job (id, caller, key, status, targets_total, created_at, expires_at, retry_of)
       VALUES (?, ?, ?, 'queued', ?, ?, ?, ?)`,
    ),
    addTarget: db.prepare('INSERT INTO target (job, idx, custom_id, options, url) VALUES (?, ?, ?, ?, ?)'),
    // The old status is part of the condition: what another event changed meanwhile makes this update nothing.
    setStatus: db.prepare(
      `UPDATE job SET status = ?, error = ?, started_at = coalesce(started_at, ?), finished_at = ?
       WHERE n = ? AND status = ?`,
    ),
    targets: db.prepare<[number], TargetRow>(
      'SELECT idx, status, custom_id, options, url FROM target WHERE job = ? ORDER BY idx',
    ),
    setOutcome: db.prepare(
      `UPDATE target SET status = ?, outcome = CAST(? AS TEXT), outcome_crc = ? WHERE job = ? AND idx = ? AND status = 'pending'`,
    ),
    count: db.prepare<[number, number, number], Pick<JobRow, 'targets_total' | 'targets_done' | 'targets_failed'>>(
      `UPDATE job SET targets_done = targets_done + 1, targets_failed = targets_failed + ?, expires_at = ?
       WHERE n = ? RETURNING targets_total, targets_done, targets_failed`,
    ),
    outcome: db.prepare<[string, number], OutcomeRow>(
      `SELECT CAST(outcome AS BLOB) AS text, outcome_crc AS crc FROM target JOIN job ON job.n = target.job
       WHERE job.id = ? AND idx = ? AND outcome IS NOT NULL`,
    ),
    addWebhook: db.prepare('INSERT INTO webhook (job, message_id, url) VALUES (?, ?, ?)'),
    setWebhookDue: db.prepare('UPDATE webhook SET due_at = ? WHERE job = ?'),
    nextWebhook: db.prepare<[string, string], DueRow>(
      `SELECT ${JOB_COLUMNS}, message_id, due_at FROM webhook JOIN job ON job.n = webhook.job
       WHERE due_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?))
         AND caller NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT 1`,
    ),
    setWebhook: db.prepare(
      `UPDATE webhook SET attempts = attempts + 1, state = ?, due_at = ?, last_error = ?
       WHERE job = (SELECT n FROM job WHERE id = ?) AND due_at IS NOT NULL`,
    ),
    purgeOne: db.prepare(
      `DELETE FROM job WHERE n IN (
         SELECT n FROM job WHERE finished_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT 1)`,
    ),
    probe: db.prepare<[], number>('UPDATE probe SET writes = writes + 1 RETURNING writes').pluck(),
    readProbe: db.prepare<[], number>('SELECT writes FROM probe').pluck(),
  }
}

/** A live job is never gone: its next outcome moves the lease. */
function isGone({ finished_at, expires_at }: JobRow, at: number): boolean {
  return finished_at !== null && expires_at <= at
}

function toJobRecord(row: JobRow): JobRecord {
  return {
    id: row.id,
    caller: row.caller,
    status: row.status,
    error: row.error ?? undefined,
    targetsTotal: row.targets_total,
    targetsDone: row.targets_done,
    targetsFailed: row.targets_failed,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    finishedAt: row.finished_at ?? undefined,
    expiresAt: row.expires_at,
    retryOf: row.retry_of ?? undefined,
    webhook: toWebhookRecord(row),
  }
}

function toWebhookRecord(row: JobRow): WebhookRecord | undefined {
  const { webhook_url: url, webhook_state: state, webhook_attempts: attempts, webhook_error: lastError } = row
  if (url === null || state === null || attempts === null) return undefined
  return { url, state, attempts, lastError: lastError ?? undefined }
}

function toTargetRecord({ idx, url, custom_id, options, status }: TargetRow): TargetRecord {
  return { idx, url, customId: custom_id ?? undefined, options: JSON.parse(options) as TargetOptions, status }
}
