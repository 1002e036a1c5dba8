import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'

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

  it.each<{ what: string; makeLinks: (folder: string) => void; name: string; file: string }>([
    {
      what: 'a link',
      makeLinks: (folder) => symlinkSync(`${folder}/jobs.db`, `${folder}/link.db`),
      name: 'link.db',
      file: 'jobs.db',
    },
    {
      what: 'a chain of links',
      makeLinks(folder) {
        symlinkSync('jobs.db', `${folder}/second.db`)
        symlinkSync('second.db', `${folder}/first.db`)
      },
      name: 'first.db',
      file: 'jobs.db',
    },
    {
      what: 'a link in the way to it',
      makeLinks(folder) {
        mkdirSync(`${folder}/real`)
        symlinkSync('real', `${folder}/data`)
      },
      name: 'data/jobs.db',
      file: 'real/jobs.db',
    },
    {
      what: 'the way back from a link',
      makeLinks(folder) {
        mkdirSync(`${folder}/real/deep`, { recursive: true })
        symlinkSync('real/deep', `${folder}/data`)
      },
      name: 'data/../jobs.db',
      file: 'real/jobs.db',
    },
  ])('opens a file once that it has to create, also by $what', ({ makeLinks, name, file }) => {
    using temp = tempFolder()
    makeLinks(temp.folder)
    const [linked, real] = [`${temp.folder}/${name}`, `${temp.folder}/${file}`]
    const first = openDatabase(linked)
    for (const again of [real, linked]) {
      expect(thrownBy(() => openDatabase(again))).toMatch(/in use by another pagehaul process/)
    }
    first.close()
    openDatabase(real).close()
  })

  it('refuses a file with a second name that has a lock and a log of its own', () => {
    using temp = tempFolder()
    const { close } = openDatabase(temp.file('jobs.db'))
    linkSync(temp.file('jobs.db'), temp.file('other.db'))
    expect(thrownBy(() => openDatabase(temp.file('other.db')))).toMatch(/has another name/)
    close()
  })

  it.each<[string, (file: string) => void]>([
    ['another program', (file) => execute(file, 'CREATE TABLE theirs (x)')],
    ['another program, with a log', (file) => execute(file, 'PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)')],
    [
      'a newer version',
      (file) => {
        openDatabase(file).close()
        execute(file, 'PRAGMA journal_mode = DELETE; PRAGMA user_version = 999')
      },
    ],
  ])('leaves the database of %s as it is', (_whose, prepare) => {
    using temp = tempFolder()
    prepare(temp.file('jobs.db'))
    const before = readFileSync(temp.file('jobs.db'))
    expect(() => openDatabase(temp.file('jobs.db'))).toThrow(StoreOpenError)
    expect(readFileSync(temp.file('jobs.db')).equals(before)).toBe(true)
    expect(readdirSync(temp.folder).toSorted()).toEqual(['jobs.db', 'jobs.db.lock'])
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
