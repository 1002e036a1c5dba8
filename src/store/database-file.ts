import { realpathSync, statfsSync, statSync } from 'node:fs'
import path from 'node:path'

import type { Database } from 'better-sqlite3'

import { storageFull, storageUnavailable } from './storage-error.ts'

/**
 * Bytes of the disk that no job and no content may take: room for cancels, failures and purges, so that a full store
 * recovers by itself.
 */
const DISK_RESERVE_BYTES = 8_388_608
/** The same of the size that the database may have: room for the failures of all live jobs. */
const SIZE_RESERVE_BYTES = 131_072

/** The files of an open database, as the file system has them. Looks at them by name and never opens them. */
export interface DatabaseFile {
  /**
   * For the start of each transaction: a file that was deleted or replaced could still be written, and be lost.
   * @throws {AppError} `storage_unavailable` if the database is not where it was opened.
   */
  assertInPlace(): void
  /**
   * Claims room for `bytes` of a job or a content in the transaction.
   * @throws {AppError} `storage_full` if the disk had less than the reserve left after it.
   */
  claim(bytes: number): void
  /**
   * Gives the room of the log back to the disk, as far as it can be and without a wait: SQLite keeps up to 64 MiB of
   * it, in the database already, for the changes to come. Only between transactions.
   * @throws {AppError} `storage_unavailable` if the database is not where it was opened.
   */
  emptyLog(): void
}

/** What is in memory alone is always in place, and its room is that of the process. */
const IN_MEMORY: DatabaseFile = { assertInPlace() {}, claim() {}, emptyLog() {} }

/** @param db in WAL mode, and opened just now. */
export function watchDatabaseFile(db: Database): DatabaseFile {
  if (db.memory) return IN_MEMORY
  const file = realpathSync.native(db.name)
  const log = `${file}-wal`
  const opened = [db.name, log, `${file}-shm`].map((name) => ({ name, identity: identityOf(name) }))
  const pageSize = Number(db.pragma('page_size', { simple: true }))
  const bytesMax = Number(db.pragma('max_page_count', { simple: true })) * pageSize
  const pages = db.prepare<[], number>('PRAGMA page_count').pluck()
  const freePages = db.prepare<[], number>('PRAGMA freelist_count').pluck()
  const bytesOf = (count: typeof pages) => Number(count.get()) * pageSize
  let claimed = 0

  /** Bytes by which all files together may grow; no limit where the file system tells none. */
  function diskRoom(): number {
    const { blocks, bavail, bsize } = statfsSync(path.dirname(file))
    return blocks === 0 ? Infinity : bavail * bsize - DISK_RESERVE_BYTES
  }

  function assertInPlace(): void {
    claimed = 0
    const moved = opened.find(({ name, identity }) => identityOf(name) !== identity)
    if (moved) throw storageUnavailable(new Error(`${moved.name} was deleted, moved or replaced`))
  }

  return {
    assertInPlace,
    claim(bytes) {
      claimed += bytes
      const free = bytesOf(freePages)
      if (bytes > bytesMax - bytesOf(pages) + free - SIZE_RESERVE_BYTES) {
        throw storageFull(new Error(`the database has less than ${SIZE_RESERVE_BYTES} bytes left of its size`))
      }
      // All that is in the log moves into the database in the end, and what is claimed is in both for a while.
      const growth = Math.max(0, statSync(log).size + claimed - free)
      if (claimed + growth > diskRoom()) {
        throw storageFull(new Error(`the disk has less than ${DISK_RESERVE_BYTES} bytes left beside what is claimed`))
      }
    },
    emptyLog() {
      assertInPlace()
      if (statSync(log).size === 0) return
      const busyTimeoutMs = Number(db.pragma('busy_timeout', { simple: true }))
      db.pragma('busy_timeout = 0') // A backup may read from the log for minutes.
      try {
        db.pragma('wal_checkpoint(TRUNCATE)')
      } catch {
        // The write that needs the room says what is wrong.
      } finally {
        db.pragma(`busy_timeout = ${busyTimeoutMs}`)
      }
    },
  }
}

/** Another file has another one. Undefined if there is no file to be seen. */
function identityOf(name: string): string | undefined {
  try {
    const { dev, ino } = statSync(name, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
