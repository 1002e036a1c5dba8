import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'

import Database from 'better-sqlite3'

import { isBusy } from './storage-error.ts'

/** `pgha` in ASCII: marks a file as ours, so that the data of another program is never written to. */
const APPLICATION_ID = 0x70_67_68_61
/** How long one attempt to write waits while another process, such as a backup, holds the file. */
const BUSY_TIMEOUT_MS = 1_000
const MIGRATIONS = path.join(import.meta.dirname, 'migrations')

/** The database cannot be used. `message` is one line for the operator, with the way out. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
}

export interface OpenDatabase {
  readonly db: Database.Database
  close(): void
}

/**
 * Opens, locks, checks and migrates the database at `file`, or one in memory for `:memory:`. That of another program, or of
 * a newer version, is only read.
 * @param bytesMax upper bound of the file, in bytes; undefined for none.
 * @throws {StoreOpenError}
 */
export function openDatabase(file: string, bytesMax?: number): OpenDatabase {
  const opened: Database.Database[] = []
  const close = () => {
    for (const handle of opened) handle.close() // The lock after what it guards.
  }
  try {
    const db = new Database(file, { timeout: BUSY_TIMEOUT_MS }) // Creates the file: only one that exists has a real path.
    opened.push(db)
    if (!db.memory) opened.push(lock(file))
    const scripts = readdirSync(MIGRATIONS)
      .filter((name) => name.endsWith('.sql'))
      .toSorted()
    const version = checkedVersion(db, file, scripts.length)
    configure(db, file, bytesMax)
    migrate(db, scripts, version)
    return { db, close }
  } catch (error) {
    close()
    throw error instanceof StoreOpenError ? error : new StoreOpenError(explain(file, error), { cause: error })
  }
}

/**
 * Keeps every other process away from `file`, by whatever links it is reached, for as long as the returned handle is open
 * and reachable. The lock is on a file of its own, so that backups and read-only tools can still open the database.
 */
function lock(file: string): Database.Database {
  const place = realpathSync.native(file) // As SQLite takes it: `..` leads back from where a link has led to.
  if (statSync(place).nlink > 1) {
    throw new StoreOpenError(
      `${file} has another name (a hard link), under which it has no lock and no log; remove one.`,
    )
  }
  const handle = new Database(`${place}.lock`, { timeout: 0 })
  try {
    handle.exec('BEGIN EXCLUSIVE')
    return handle
  } catch (error) {
    handle.close()
    if (!isBusy(error)) throw error
    throw new StoreOpenError(`${file} is in use by another pagehaul process; stop it, or set another DATABASE_URL.`)
  }
}

/** The version of the schema, 0 for an empty file, of a database that is ours and not newer than `versionMax`. */
function checkedVersion(db: Database.Database, file: string, versionMax: number): number {
  const applicationId = Number(db.pragma('application_id', { simple: true }))
  const version = Number(db.pragma('user_version', { simple: true }))
  const isNew = applicationId === 0 && version === 0 && db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
  if (!isNew && applicationId !== APPLICATION_ID) {
    throw new StoreOpenError(`${file} is the database of another program; set another DATABASE_URL.`)
  }
  if (version > versionMax) {
    throw new StoreOpenError(
      `${file} was written by a newer pagehaul (schema ${version}, this one knows ${versionMax}); run that version.`,
    )
  }
  return version
}

function configure(db: Database.Database, file: string, bytesMax: number | undefined): void {
  db.pragma('auto_vacuum = INCREMENTAL')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL') // After WAL is on, which sets it to NORMAL.
  db.pragma('fullfsync = ON')
  db.pragma('foreign_keys = ON')
  db.pragma('trusted_schema = OFF')
  db.pragma('secure_delete = FAST')
  db.pragma('journal_size_limit = 67108864')
  db.pragma('temp_store = MEMORY') // Or else undo data of savepoints lies in a folder of the system, which may be full or read-only.
  if (bytesMax !== undefined) {
    const pageSize = Number(db.pragma('page_size', { simple: true }))
    db.pragma(`max_page_count = ${Math.max(1, Math.floor(bytesMax / pageSize))}`)
  }
  if (db.pragma('synchronous', { simple: true }) !== 2) throw new StoreOpenError(`${file} cannot be written durably.`)
  const verdict = db.pragma('quick_check(1)', { simple: true })
  if (verdict !== 'ok') throw new StoreOpenError(damaged(file))
}

function migrate(db: Database.Database, scripts: readonly string[], version: number): void {
  db.transaction(() => {
    for (const name of scripts.slice(version)) db.exec(readFileSync(path.join(MIGRATIONS, name), 'utf8'))
    db.pragma(`user_version = ${scripts.length}`)
    db.pragma(`application_id = ${APPLICATION_ID}`)
  }).immediate()
}

function explain(file: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = error instanceof Error ? error.message : String(error)
  if (message.includes('directory does not exist')) {
    return `The folder of ${file} does not exist; create it, or set another DATABASE_URL.`
  }
  if (code.startsWith('SQLITE_NOTADB')) return `${file} is not a SQLite database; set another DATABASE_URL.`
  if (code.startsWith('SQLITE_CORRUPT')) return damaged(file)
  if (code.startsWith('SQLITE_READONLY')) return `${file} is read-only; make the file and its folder writable.`
  if (code.startsWith('SQLITE_CANTOPEN'))
    return `${file} cannot be opened for writing; check the path and its permissions.`
  if (code.startsWith('SQLITE_FULL')) return `There is no room for ${file}; free some disk space.`
  return `${file} cannot be opened: ${message}`
}

function damaged(file: string): string {
  return `${file} is damaged; put a backup in its place, or move it away to start with an empty one.`
}
