// Cuts the power of a recorded run at random points: what clients had been shown must be there, in a sound file.
// npm run test:powerloss -- [--points 200] [--seed NUMBER] [--recording FOLDER that an earlier run has left]
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { hasProgram } from '../helpers/has-program.ts'
import { createRandom } from '../helpers/random.ts'
import type { Call } from './call.ts'
import { FATES } from './disk.ts'
import { record, recordingIn } from './record.ts'
import { choosePoints, type Lives, readLives, replay } from './replay.ts'
import { createShown } from './shown.ts'

const POINTS = 200
const SEED_MAX = 2 ** 31
/** Points of each control. */
const CONTROL_POINTS = 20
/** What a lying disk is tried with: nothing arrives that it did not have to keep. */
const CONTROL_FATES = { dropped: FATES.dropped }
/** Disks that lie: files whose syncs do nothing. With each, something must be lost, or the check could not fail. */
const CONTROLS: Readonly<Record<string, (name: string) => boolean>> = {
  'the log': (name) => name.endsWith('-wal'),
  'the database': (name) => name.endsWith('.db'),
}

const print = (line: string) => process.stdout.write(`${line}\n`)

/** @returns whether nothing was lost, and the controls have lost something. */
async function run(): Promise<boolean> {
  const { points: count, seed, recording: kept } = readOptions()
  const random = createRandom(seed)
  const folder = kept ?? mkdtempSync(path.join(tmpdir(), 'pagehaul-powerloss-'))
  const recording = recordingIn(folder)
  const recordRandom = random.fork()
  print(`recording in ${folder}, seed ${seed}`)
  if (kept === undefined) await record(recording, recordRandom)
  const lives = await readLives(recording)
  print(describe(lives))

  const points = choosePoints(lives, count, random.fork())
  const { losses, damages } = await replay(lives, { points, fates: FATES, random: random.fork() })
  for (const { point, fate, wrong } of damages) print(`after call ${point}, ${fate}:\n  ${wrong.join('\n  ')}`)
  print(`replayed  ${points.size} points, ${losses} power losses: ${damages.length} did damage`)

  let isSharp = true
  for (const [what, ignoresSync] of Object.entries(CONTROLS)) {
    const controlPoints = choosePoints(lives, CONTROL_POINTS, random.fork())
    const control = await replay(lives, {
      points: controlPoints,
      fates: CONTROL_FATES,
      random: random.fork(),
      ignoresSync,
    })
    print(
      `control   without the syncs of ${what}, ${control.damages.length} of ${control.losses} power losses did damage`,
    )
    if (control.damages.length === 0) isSharp = false
  }
  if (damages.length === 0 && kept === undefined) rmSync(folder, { recursive: true })
  else print(`again     --recording ${folder} --seed ${seed}`)
  return damages.length === 0 && isSharp
}

/** Ends the process where there is nothing to be done. */
function exit(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(2)
}

function readOptions() {
  const { values } = parseArgs({
    options: { points: { type: 'string' }, seed: { type: 'string' }, recording: { type: 'string' } },
  })
  const points = Number(values.points ?? POINTS)
  const seed = Number(values.seed ?? randomInt(SEED_MAX))
  if (points > 0 && Number.isInteger(points) && Number.isInteger(seed))
    return { points, seed, recording: values.recording }
  return exit('--points is a whole number above 0, and --seed a whole number.')
}

/** What was recorded, in numbers. */
function describe(lives: Lives): string {
  const calls = lives.flat()
  const shown = createShown()
  for (const call of calls) if (call.kind === 'send') shown.take(call)
  const jobs = [...shown.jobs.values()]
  const outcomes = jobs.reduce((sum, { targets }) => sum + targets.size, 0)
  const ends = Object.entries(Object.groupBy(jobs, ({ final }) => final?.status ?? 'cut off')).map(
    ([status, those]) => `${those.length} ${status}`,
  )
  const writes = calls.filter((call) => call.kind === 'write')
  const megabytes = (writes.reduce((sum, { data }) => sum + data.length, 0) / 1e6).toFixed(1)
  const count = (kind: Call['kind']) => calls.filter((call) => call.kind === kind).length
  return [
    `recorded  ${lives.length} lives: ${writes.length} writes of ${megabytes} MB, ${count('sync')} syncs, ${count('truncate')} truncations, ${count('create')} opened to be created, ${count('remove')} removed`,
    `shown     ${jobs.length} jobs (${ends.join(', ')}) and ${outcomes} outcomes in ${count('send')} sends`,
  ].join('\n')
}

if (!hasProgram('strace')) exit('strace is needed to record what the service writes. On Debian: apt-get install strace')
process.exitCode = (await run()) ? 0 : 1
