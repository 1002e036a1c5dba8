import { readFileSync } from 'node:fs'

import Database from 'better-sqlite3'

/** What stands in a database of schema 3: outcomes had no checksums then. */
export const SCHEMA_3 = {
  /** A job that has ended, and whose webhook is due. */
  ended: '01900000-0000-7000-8000-000000000001',
  /** A job with a pending target, left live by the process that was killed. */
  live: '01900000-0000-7000-8000-000000000002',
  done: '{"result":{"content":"Grüße","meta":{"bytes":7}}}',
  failed: '{"error":"http_404","message":"Gone.","hint":"Look elsewhere."}',
} as const

/** Writes such a database to `file`, as the service of that time left it. */
export function writeSchema3(file: string): void {
  const db = new Database(file)
  db.pragma('auto_vacuum = INCREMENTAL')
  db.pragma('journal_mode = WAL')
  for (const script of ['0001-jobs', '0002-retry', '0003-webhook']) {
    db.exec(readFileSync(new URL(`../../src/store/migrations/${script}.sql`, import.meta.url), 'utf8'))
  }
  db.pragma('user_version = 3')
  db.pragma('application_id = 1885825121')
  const { ended, live, done, failed } = SCHEMA_3
  db.exec(`
    INSERT INTO job (n, id, caller, key, status, targets_total, targets_done, targets_failed, created_at, started_at, finished_at, expires_at)
    VALUES (1, '${ended}', 'alice', x'01', 'partial', 2, 2, 1, 0, 0, 5, 1000),
           (2, '${live}', 'alice', x'02', 'running', 2, 1, 0, 0, 0, NULL, 1000);
    INSERT INTO target (job, idx, status, custom_id, options, url, outcome)
    VALUES (1, 0, 'done', 'a', '{"mode":"raw"}', 'https://a.example/', '${done}'),
           (1, 1, 'failed', NULL, '{}', 'https://b.example/', '${failed}'),
           (2, 0, 'done', NULL, '{}', 'https://c.example/', '${done}'),
           (2, 1, 'pending', NULL, '{}', 'https://d.example/', NULL);
    INSERT INTO webhook (job, message_id, url, due_at) VALUES (1, 'message-1', 'https://hooks.example/', 5)`)
  db.close()
}
