import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'

import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'

import { openDatabase, StoreOpenError } from '../../src/store/open.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

describe('openDatabase', () => {
  it.each<{ what: string; prepare: (file: string) => void; says: RegExp }>([
    {
      what: 'a text file',
      prepare: (file) => writeFileSync(file, 'These are notes, not a database. '.repeat(50)),
      says: /is not a SQLite database/,
    },
    {
      what: 'a truncated database',
      prepare(file) {
        writeMany(file)
        truncateSync(file, 20_480)
      },
      says: /is damaged/,
    },
    {
      what: 'a newer schema',
      prepare(file) {
        openDatabase(file).close()
        execute(file, 'PRAGMA user_version = 999')
      },
      says: /newer pagehaul \(schema 999, this one knows \d+\)/,
    },
    {
      what: 'the database of another program',
      prepare: (file) => execute(file, 'CREATE TABLE theirs (x)'),
      says: /another program/,
    },
    { what: 'a folder', prepare: (file) => mkdirSync(file), says: /cannot be opened/ },
  ])('says in one line what is wrong with $what', ({ prepare, says }) => {
    using temp = tempFolder()
    prepare(temp.file('jobs.db'))
    expect(thrownBy(() => openDatabase(temp.file('jobs.db')))).toMatch(says)
  })

  it('says that a folder is missing', () => {
    using temp = tempFolder()
    expect(thrownBy(() => openDatabase(temp.file('missing/jobs.db')))).toMatch(/folder of .* does not exist/)
  })

  it('refuses a file that is open already, and takes it once that is closed', () => {
    using temp = tempFolder()
    const first = openDatabase(temp.file('jobs.db'))
    expect(thrownBy(() => openDatabase(temp.file('jobs.db')))).toMatch(/in use by another pagehaul process/)
    symlinkSync(temp.file('jobs.db'), temp.file('link.db'))
    expect(thrownBy(() => openDatabase(temp.file('link.db')))).toMatch(/in use by another pagehaul process/)
    first.close()
    openDatabase(temp.file('jobs.db')).close()
  })

  it('keeps what a database holds when it opens it again', () => {
    using temp = tempFolder()
    writeMany(temp.file('jobs.db'))
    const { db, close } = openDatabase(temp.file('jobs.db'))
    expect(db.prepare('SELECT count(*) FROM job').pluck().get()).toBe(500)
    close()
  })

  it('can be read by others while it is open', () => {
    using temp = tempFolder()
    const { close } = openDatabase(temp.file('jobs.db'))
    chmodSync(temp.file('jobs.db'), 0o444)
    const reader = new Database(temp.file('jobs.db'), { readonly: true })
    expect(reader.prepare('SELECT count(*) FROM job').pluck().get()).toBe(0)
    reader.close()
    close()
  })
})

function thrownBy(open: () => unknown): string {
  try {
    open()
  } catch (error) {
    expect(error).toBeInstanceOf(StoreOpenError)
    const { message } = error as Error
    expect(message).not.toContain('\n')
    return message
  }
  throw new Error('it opened')
}

function execute(file: string, sql: string): void {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}

function writeMany(file: string): void {
  const { db, close } = openDatabase(file)
  const add = db.prepare(
    `INSERT INTO job (id, caller, key, status, targets_total, created_at, expires_at) VALUES (?, 'a', x'00', 'running', 1, 0, 0)`,
  )
  db.transaction(() => {
    for (let n = 0; n < 500; n++) add.run(`id-${n}`)
  })()
  close()
}
