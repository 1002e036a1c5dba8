// Copies the database into a new file, whether or not the service runs: `npm run backup -- FILE`. The settings say where
// the database is. Takes no lock that the service waits for: it reads what is committed at one moment.
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'

import Database from 'better-sqlite3'

import { ConfigError, loadConfig } from '../src/config.ts'

/** How long a start or a stop of the service, which holds the database for a moment, is waited for. */
const BUSY_TIMEOUT_MS = 10_000

const [to = '', ...rest] = process.argv.slice(2)
if (to === '' || rest.length > 0) stop(2, 'Usage: npm run backup -- FILE\nFILE is the copy; it must not exist yet.')
if (existsSync(to)) stop(1, occupied(to))

const partial = `${to}.${process.pid}.partial`
process.umask(0o077) // It holds what the callers' pages say, for nobody else to read.
try {
  const from = databaseFile()
  copy(from, partial)
  const jobs = verify(partial)
  persist(partial, to)
  console.log(`${from} is copied to ${to}: ${jobs} jobs, ${statSync(to).size} bytes, checked.`)
} catch (error) {
  rmSync(partial, { force: true })
  if (error instanceof ConfigError) stop(2, error.message)
  stop(1, `There is no backup: ${error instanceof Error ? error.message : String(error)}`)
}

/** @throws {ConfigError} */
function databaseFile(): string {
  const file = loadConfig(process.env).databaseFile
  if (file === ':memory:') throw new ConfigError('DATABASE_URL is `:memory:`, of which there can be no backup.')
  if (!existsSync(file)) throw new Error(`${file} does not exist; set the DATABASE_URL of the service.`)
  return file
}

/** One statement, and so one moment: what is committed before it is in the copy, and nothing later. */
function copy(from: string, into: string): void {
  const db = new Database(from, { readonly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    db.prepare('VACUUM INTO ?').run(into)
  } finally {
    db.close()
  }
}

/** @returns the number of jobs in it. */
function verify(file: string): number {
  const db = new Database(file, { readonly: true })
  try {
    const verdict = String(db.pragma('integrity_check(1)', { simple: true }))
    if (verdict !== 'ok') throw new Error(`the copy is damaged, and so is the database: ${verdict}`)
    checkOutcomes(db)
    return Number(db.prepare('SELECT count(*) FROM job').pluck().get())
  } finally {
    db.close()
  }
}

interface OutcomeRow {
  readonly job: string
  readonly idx: number
  readonly text: Buffer
  readonly crc: number
}

/** @throws {Error} that names the first outcome whose bytes are not those that were stored. */
function checkOutcomes(db: Database.Database): void {
  const column = db.prepare(`SELECT 1 FROM pragma_table_info('target') WHERE name = 'outcome_crc'`)
  if (column.get() === undefined) return // The database is from before there were checksums.
  const outcomes = db.prepare<[], OutcomeRow>(
    `SELECT job.id AS job, idx, CAST(outcome AS BLOB) AS text, outcome_crc AS crc
     FROM target JOIN job ON job.n = target.job WHERE outcome_crc IS NOT NULL`,
  )
  for (const { job, idx, text, crc } of outcomes.iterate()) {
    if (crc32(text) !== crc) throw new Error(`the outcome of target ${idx} of job ${job} is damaged in the database.`)
  }
}

/** Gives the copy its name once it is on the disk, so that a file of this name is a whole one. */
function persist(copied: string, name: string): void {
  flush(copied)
  rename(copied, name)
  flush(path.dirname(name))
}

/** Leaves a file alone that has got the name meanwhile. */
function rename(from: string, name: string): void {
  try {
    linkSync(from, name)
  } catch {
    if (existsSync(name)) throw new Error(occupied(name))
    renameSync(from, name) // Not every file system has links.
    return
  }
  rmSync(from)
}

function occupied(name: string): string {
  return `${name} exists already, and is left as it is; name another file.`
}

function flush(file: string): void {
  const handle = openSync(file, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function stop(code: number, message: string): never {
  console.error(message)
  process.exit(code)
}
