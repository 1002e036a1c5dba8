import Database from 'better-sqlite3'

import type { Entry } from './log.ts'

interface JobRow {
  readonly n: number
  readonly id: string
  readonly caller: string
  readonly status: string
  readonly targets_done: number
  readonly targets_failed: number
  readonly expires_at: number
}

interface TargetRow {
  readonly url: string
  readonly outcome: string | null
}

/** What the file of a service that has stopped holds: the verdict of SQLite, and every job. */
export function* readStored(file: string): Generator<Entry> {
  const db = new Database(file)
  try {
    yield { kind: 'integrity', verdict: String(db.pragma('integrity_check', { simple: true })) }
    const targets = db.prepare<[number], TargetRow>('SELECT url, outcome FROM target WHERE job = ? ORDER BY idx')
    for (const job of db.prepare<[], JobRow>('SELECT * FROM job').all()) {
      const rows = targets.all(job.n)
      yield {
        kind: 'stored',
        id: job.id,
        caller: job.caller,
        status: job.status,
        targetsDone: job.targets_done,
        targetsFailed: job.targets_failed,
        expiresAt: job.expires_at,
        urls: rows.map(({ url }) => url),
        outcomes: rows.map(({ outcome }) => outcome),
      }
    }
  } finally {
    db.close()
  }
}
