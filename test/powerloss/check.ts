import { writeFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'

import Database from 'better-sqlite3'

import { createJobBodies } from '../../src/http/job-body.ts'
import { toJobSummary } from '../../src/jobs/job-summary.ts'
import { isFinal } from '../../src/jobs/states.ts'
import type { JobSnapshot, JobStore } from '../../src/jobs/store.ts'
import { openSqliteStore } from '../../src/store/sqlite-store.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import type { Files } from './disk.ts'
import type { ShownJob } from './shown.ts'

/** Name of the database in its folder. */
export const DATABASE = 'jobs.db'
/** Before every lease, so that a job is found until it is purged. */
const BEFORE_ALL = 0
/** What no row may be. The targets of a job are stored in order, so those that are left out stand last. */
const UNSOUND = {
  'a job is live': 'SELECT count(*) FROM job WHERE finished_at IS NULL',
  'a count is not that of the targets': `
    SELECT count(*) FROM job WHERE (targets_total, targets_done, targets_failed) <> (
      SELECT count(*), total(status <> 'pending'), total(status = 'failed') FROM target WHERE job = n)`,
  'a status is not that of the targets': `
    SELECT count(*) FROM job WHERE (status IN ('done', 'partial') AND targets_done < targets_total)
      OR (status = 'done' AND targets_failed > 0)
      OR (status = 'failed' AND error IS NULL AND targets_failed < targets_total)`,
  'a target is stored before an earlier one': `
    SELECT count(*) FROM target late JOIN target early USING (job)
    WHERE late.idx > early.idx AND late.status <> 'pending' AND early.status = 'pending'`,
}

/**
 * Starts the store on what a power loss left, as the service does, and holds it against what clients had been shown.
 * @param atMs when the power went, in milliseconds since the Unix epoch.
 * @returns what is wrong, a line each.
 */
export async function checkFiles(files: Files, shown: ReadonlyMap<string, ShownJob>, atMs: number): Promise<string[]> {
  using temp = tempFolder()
  for (const [name, content] of files) writeFileSync(temp.file(name), content)
  const wrong: string[] = []
  try {
    const store = openSqliteStore(temp.file(DATABASE))
    try {
      await store.failInterrupted(atMs)
      await store.probe()
      for (const [id, job] of shown) wrong.push(...(await checkJob(store, id, job, atMs)))
    } finally {
      await store.close()
    }
    return [...wrong, ...checkDatabase(temp.file(DATABASE))]
  } catch (error) {
    return [...wrong, `the store fails: ${error instanceof Error ? error.message : String(error)}`]
  }
}

async function checkJob(store: JobStore, id: string, shown: ShownJob, atMs: number): Promise<string[]> {
  const found = await store.find(id, callerOf(shown), BEFORE_ALL)
  if (!found) return shown.expiresAtMs <= atMs ? [] : [`job ${id} is lost`]
  const wrong = [...differences(found, shown)].map((what) => `job ${id}: ${what}`)
  for (const [idx, json] of shown.targets) {
    if (!(await isStored(store, found, idx, json))) wrong.push(`job ${id}: target ${idx} is not as it was shown`)
  }
  return wrong
}

/** Targets are paths of their caller, whom the service knows by the header that names it. */
function callerOf({ urls: [url = ''] }: ShownJob): string {
  return `id:${new URL(url).pathname.split('/')[2]}`
}

function* differences({ job, targets }: JobSnapshot, shown: ShownJob) {
  const summary = toJobSummary(job)
  if (targets.length !== shown.urls.length || targets.some(({ idx, url }) => url !== shown.urls[idx])) {
    yield 'its targets are not those that were submitted'
  }
  if (!isFinal(job.status)) yield `it is ${job.status}`
  if (job.targetsDone < shown.targetsDone || job.targetsFailed < shown.targetsFailed) yield 'it has lost outcomes'
  if (job.expiresAt < shown.expiresAtMs) yield 'its lease has gone back'
  const { final } = shown
  if (!final) return
  for (const name of ['status', 'error', 'started_at', 'finished_at'] as const) {
    if (summary[name] !== final[name]) yield `${name} is ${summary[name]} and was shown as ${final[name]}`
  }
}

/** Whether the target is, byte for byte, what was sent of it. */
async function isStored(store: JobStore, { job, targets }: JobSnapshot, idx: number, json: Buffer): Promise<boolean> {
  const target = targets[idx]
  if (!target || target.status === 'pending') return false
  const { target: toJson } = createJobBodies(store.readOutcome, 0)
  const stored = await buffer(toJson(job.id, target, { results: true }))
  return stored.subarray(0, json.length).equals(json)
}

function checkDatabase(file: string): string[] {
  const db = new Database(file, { readonly: true })
  try {
    const wrong = Object.entries(UNSOUND).flatMap(([what, sql]) => (db.prepare(sql).pluck().get() === 0 ? [] : [what]))
    const verdict = db.pragma('integrity_check', { simple: true })
    if (verdict !== 'ok') wrong.push(`integrity_check: ${String(verdict)}`)
    if (db.pragma('foreign_key_check', { simple: true }) !== undefined) wrong.push('a target has no job')
    return wrong
  } finally {
    db.close()
  }
}
