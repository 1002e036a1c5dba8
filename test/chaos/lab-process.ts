import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'

import type { TargetOptions } from '../../src/jobs/schema.ts'
import { BEHAVIOURS } from '../lab/behaviours.ts'
import type { Expectation } from './log.ts'

/** A kind of target: where it is, how it is asked for, and how it ends. */
export interface Kind extends Expectation {
  readonly url: string
  readonly options: TargetOptions
}

const HIT = /^\{"at":/

/**
 * What these do depends on how often they are asked, so that the same submission need not end the same; and the last
 * one ends otherwise where its URL is not a public one.
 */
const UNFIT: ReadonlySet<string> = new Set([
  'name-rebound',
  'name-rebound-by-redirect',
  'redirect-in-utf-8',
  'redirect-in-latin-1',
  'gone-without-copy',
])

/** Of the output of the lab. */
interface FirstLine {
  readonly urls: Readonly<Record<string, string>>
  readonly allow: readonly string[]
  readonly nameServer: string
  readonly archive: string
  /** Origin of a server that nobody may go to. */
  readonly forbidden: string
}

/** Connections to that server. */
interface LastLine {
  readonly trespasses: number
}

/**
 * Runs the lab as a process of its own, whose hits go to `file`, a line each.
 * @throws {Error} if it ends before it has started.
 */
export async function startLabProcess(file: string) {
  const child = spawn(process.execPath, ['test/lab/main.ts'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close') as Promise<[number | null, string | null]>
  const hits = createWriteStream(file, { flags: 'ax' })
  const first = Promise.withResolvers<FirstLine>()
  const written = (async () => {
    let last: string | undefined
    for await (const row of createInterface({ input: child.stdout })) {
      if (last === undefined) first.resolve(JSON.parse(row) as FirstLine)
      else if (HIT.test(row)) hits.write(`${row}\n`)
      last = row
    }
    first.reject(new Error('the lab did not start'))
    hits.end()
    await once(hits, 'close')
    return JSON.parse(last ?? '') as LastLine
  })()
  const { urls, ...places } = await first.promise
  return {
    ...places,
    kinds: BEHAVIOURS.filter(
      ({ name, expected, robots }) => robots === undefined && !UNFIT.has(name) && !isPatience(expected),
    ).map(({ name, expected, options = {} }): Kind => {
      const url = urls[name] ?? ''
      return {
        name,
        url,
        origin: new URL(url).origin,
        options,
        outcome: expected.outcome,
        requests: expected.requests,
        ...(name === 'echo' ? { content: { is: 'path' } } : contentOf(expected.content)),
      }
    }),
    /**
     * Ends the lab, and resolves once all of its hits are in the file.
     * @returns how many connections were made to where nobody may go.
     * @throws {Error} if it did not end well.
     */
    async close(): Promise<number> {
      child.stdin.end()
      const [code, signal] = await ended
      if (code !== 0) throw new Error(`the lab ended with ${code ?? signal}`)
      return (await written).trespasses
    },
  }
}

/** Whether only the third try succeeds: there need not be time for it. */
const isPatience = ({ outcome, requests }: { outcome: string; requests: number }): boolean =>
  outcome === 'done' && requests === 3

function contentOf(content: string | RegExp | undefined): Pick<Expectation, 'content'> {
  if (content === undefined) return {}
  return {
    content: typeof content === 'string' ? { text: content } : { pattern: content.source, flags: content.flags },
  }
}
