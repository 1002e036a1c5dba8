import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

import type { Random } from '../helpers/random.ts'
import type { Call } from './call.ts'
import { checkFiles } from './check.ts'
import { createDisk, type Disk, type Fate, type Files, KEPT } from './disk.ts'
import type { Recording } from './record.ts'
import { createShown, type Shown } from './shown.ts'
import { readTrace } from './trace.ts'

/** The calls of each life of the service. */
export type Lives = readonly (readonly Call[])[]

/**
 * Reads the calls of a recording and makes sure that none is missing: made one after the other, they give the files that
 * the service left, and they hold every outcome that clients were sent.
 * @throws {AssertionError}
 */
export async function readLives({ folder, lives, seen }: Recording): Promise<Lives> {
  const disk = createDisk()
  const shown = createShown()
  const read: Call[][] = []
  for (const { trace, left } of lives) {
    const files = new Map(
      readdirSync(left)
        .filter((name) => !name.endsWith('-shm'))
        .map((name) => [name, readFileSync(path.join(left, name))]),
    )
    const calls = (await readTrace(trace, folder)).filter((call) => wasMade(call, files))
    for (const call of calls) make(call, disk, shown)
    const made = disk.afterPowerLoss(KEPT)
    assert.deepEqual([...made.keys()].toSorted(), [...files.keys()].toSorted(), 'the files are those that were left')
    for (const [name, content] of made) assert(files.get(name)?.equals(content), `${name} is as it was left`)
    read.push(calls)
  }
  const sent = new Set(
    [...shown.jobs.values()].flatMap(({ urls, targets }) => [...targets.keys()].map((idx) => urls[idx])),
  )
  const urls = JSON.parse(readFileSync(seen, 'utf8')) as string[]
  assert(urls.length > 0 && urls.every((url) => sent.has(url)), 'what clients were sent is recorded')
  return read
}

/**
 * Whether the process made a call, which it may have died in: a client may have got what it sent then, a sync counts as
 * not made, and what it wrote shows in the file.
 */
function wasMade(call: Call, files: Files): boolean {
  if (!call.isCutOff || call.kind === 'send') return true
  if (call.kind !== 'write') return false
  const { name, offset, data } = call
  const written = files.get(name)?.subarray(offset, offset + data.length)
  return written?.equals(data) === true
}

/** @returns whether it told a client something new. */
function make(call: Call, disk: Disk, shown: Shown): boolean {
  if (call.kind === 'send') return shown.take(call)
  disk.apply(call)
  return false
}

/** Calls after which the power goes, by position: half of them anywhere, half where clients have just been told something. */
export function choosePoints(lives: Lives, count: number, random: Random): Set<number> {
  const disk = createDisk()
  const shown = createShown()
  const calls = lives.flat()
  const told = calls.flatMap((call, position) => (make(call, disk, shown) ? [position] : []))
  const points = new Set<number>()
  while (points.size < Math.min(count, calls.length)) {
    points.add(random.chance(0.5) ? random.whole(0, calls.length - 1) : random.pick(told))
  }
  return points
}

export interface ReplayOptions {
  readonly points: ReadonlySet<number>
  /** By name. */
  readonly fates: Readonly<Record<string, (random: Random) => Fate>>
  readonly random: Random
  /** See `createDisk`. */
  readonly ignoresSync?: (name: string) => boolean
}

/** What a power loss left that is not sound, or has lost something. */
export interface Damage {
  readonly point: number
  readonly fate: string
  readonly wrong: readonly string[]
}

/**
 * Makes the calls one after the other, and lets the power go at each point in each way. Where two ways leave the same
 * files, as they do when nothing is pending, they are one.
 * @returns the power losses there were, and the damage that some did.
 */
export async function replay(lives: Lives, options: ReplayOptions): Promise<{ losses: number; damages: Damage[] }> {
  const { points, fates, random, ignoresSync } = options
  const disk = createDisk(ignoresSync)
  const shown = createShown()
  const damages: Damage[] = []
  let losses = 0
  for (const [point, call] of lives.flat().entries()) {
    make(call, disk, shown)
    if (!points.has(point)) continue
    const tried: Files[] = []
    for (const [fate, create] of Object.entries(fates)) {
      const files = disk.afterPowerLoss(create(random))
      if (tried.some((others) => isSame(files, others))) continue
      tried.push(files)
      const wrong = await checkFiles(files, shown.jobs, call.atMs)
      if (wrong.length > 0) damages.push({ point, fate, wrong })
    }
    losses += tried.length
  }
  return { losses, damages }
}

function isSame(files: Files, others: Files): boolean {
  return files.size === others.size && [...files].every(([name, content]) => others.get(name)?.equals(content))
}
