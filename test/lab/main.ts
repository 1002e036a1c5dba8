// Runs the lab as a process of its own: `node test/lab/main.ts`. The first line of its output is JSON with all that a
// client has to know, every further line a hit, but for the last: how often somebody was
// where nobody may go. It ends with its input, or on SIGTERM.
import { once } from 'node:events'

import { BEHAVIOURS } from './behaviours.ts'
import { LAB_RANGES, startLab } from './lab.ts'

const lab = await startLab()
const { urls, forbidden, nameServer, archive } = lab
const outcomes = Object.fromEntries(BEHAVIOURS.map(({ name, expected }) => [name, expected.outcome]))
const options = Object.fromEntries(BEHAVIOURS.map(({ name, options = {} }) => [name, options]))
const tell = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
tell({ urls, outcomes, options, allow: LAB_RANGES, forbidden, nameServer, archive })
lab.hits.on('hit', tell)
process.stdout.on('error', () => undefined) // Nobody reads any more; the input ends, too.
process.stdin.resume()
await Promise.race([once(process.stdin, 'close'), once(process, 'SIGTERM')])
tell({ trespasses: lab.trespasses })
await lab[Symbol.asyncDispose]()
