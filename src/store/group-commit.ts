import type { Database } from 'better-sqlite3'

import { isBusy, isFull } from './storage-error.ts'

/** Tries to begin a transaction, each as long as the connection's busy time-out, while another process writes. */
const BUSY_TRIES_MAX = 10

interface Write {
  readonly work: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Runs writes, so that those which arrive in one turn of the event loop share one commit and its disk flush. */
export interface GroupCommit {
  /**
   * Runs `work`, which must be synchronous, inside a transaction. Resolves once that is committed. If `work` throws,
   * its own changes are undone, the promise rejects with the error, and the other writes of the group are kept.
   */
  write<T>(work: () => T): Promise<T>
  /** Resolves when every write that was asked for has been answered. */
  settled(): Promise<void>
}

/**
 * @param assertWritable is called at the start of each transaction; if it throws, nothing of that is written.
 * @param makeRoom is called between transactions, before each write of a group that was lost is tried alone.
 * @param toError turns an error of the database into the one that callers see.
 */
export function createGroupCommit(
  db: Database,
  assertWritable: () => void,
  makeRoom: () => void,
  toError: (error: unknown) => unknown,
): GroupCommit {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const savepoint = db.prepare('SAVEPOINT one_write')
  const undo = db.prepare('ROLLBACK TO one_write')
  const release = db.prepare('RELEASE one_write')

  let waiting: Write[] = []
  let busyTries = 0
  let onSettled: (() => void)[] = []

  function flush(): void {
    const group = waiting
    waiting = []
    try {
      begin.run()
    } catch (error) {
      if (isBusy(error) && ++busyTries < BUSY_TRIES_MAX) {
        waiting = group
        setImmediate(flush)
        return
      }
      busyTries = 0
      for (const { reject } of group) reject(toError(error))
      return settle()
    }
    busyTries = 0
    if (!commitTogether(group)) for (const write of group) commitAlone(write)
    settle()
  }

  /** @returns false if the whole transaction was lost, and with it every write of the group. */
  function commitTogether(group: readonly Write[]): boolean {
    const answers: (() => void)[] = []
    try {
      assertWritable()
      for (const write of group) {
        savepoint.run()
        try {
          const value = write.work()
          answers.push(() => write.resolve(value))
        } catch (error) {
          const told = toError(error)
          // A full disk or an I/O error of SQLite ends the transaction, not the statement.
          if (!db.inTransaction || isFull(told)) throw error
          undo.run()
          answers.push(() => write.reject(told))
        }
        release.run()
      }
      commit.run()
    } catch {
      if (db.inTransaction) rollback.run()
      return false
    }
    for (const answer of answers) answer()
    return true
  }

  /** For the writes of a group that was lost: each gets its own transaction, all the room, and so its own verdict. */
  function commitAlone(write: Write): void {
    try {
      makeRoom()
      begin.run()
      assertWritable()
      const value = write.work()
      commit.run()
      write.resolve(value)
    } catch (error) {
      if (db.inTransaction) rollback.run()
      write.reject(toError(error))
    }
  }

  function settle(): void {
    if (waiting.length > 0) return
    for (const resolve of onSettled) resolve()
    onSettled = []
  }

  return {
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush)
        waiting.push({ work, resolve: (value) => resolve(value as T), reject })
      }),
    settled: () => new Promise((resolve) => (waiting.length === 0 ? resolve() : onSettled.push(resolve))),
  }
}
