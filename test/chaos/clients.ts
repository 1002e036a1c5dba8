import { setTimeout } from 'node:timers/promises'

import type { JobList, JobView } from '../../src/jobs/schema.ts'
import type { Random } from '../helpers/random.ts'
import { type Answer, createAsk } from './ask.ts'
import { type Batch, type Body, type Kinds, makeBatch, spell } from './batches.ts'
import type { Log } from './log.ts'

/** Milliseconds that a caller follows a job at most. */
const FOLLOW_MS_MAX = 50_000
/** Milliseconds before a submission that got no answer is sent again. */
const AGAIN_MS = 250
/** Milliseconds between two requests of a caller. */
const PAUSE_MS = { min: 20, max: 350 }
/** Jobs and batches that a caller still thinks of. */
const REMEMBERED_MAX = 8

/** What a caller does next, and how often. */
const ACTIONS = {
  submit: 20,
  submitTwiceAtOnce: 3,
  submitAgain: 8,
  submitAnew: 3,
  submitWhatAnotherDid: 4,
  submitTooMany: 2,
  submitNonsense: 1,
  read: 18,
  readSummary: 6,
  readIfChanged: 5,
  readTarget: 6,
  readContent: 3,
  readLines: 5,
  wait: 5,
  follow: 7,
  cancel: 7,
  list: 6,
  pry: 2,
} as const

export interface CallersOptions {
  readonly origin: string
  readonly log: Log
  readonly kinds: Kinds
  readonly targetsPerJobMax: number
  /** When it aborts, every caller leaves. */
  readonly signal: AbortSignal
}

/** One who submits, reads and cancels at random. */
export interface Caller {
  readonly name: string
  /** Goes on until the signal aborts. */
  run(random: Random): Promise<void>
  /** Reads every job that the caller has heard of, or finds in its list, to the end. */
  readAll(): Promise<void>
}

/** Callers who know of each other's batches and jobs. */
export function createCallers(names: readonly string[], options: CallersOptions): Caller[] {
  const { origin, log, kinds, targetsPerJobMax, signal } = options
  const ask = createAsk(origin, log)
  const all = new Map(names.map((name) => [name, { batches: [] as Batch[], jobs: new Set<string>(), made: 0 }]))

  function createCaller(name: string): Caller {
    const own = all.get(name) ?? { batches: [], jobs: new Set<string>(), made: 0 }

    /** Sends a body until it is answered, as a client does whose service went away. */
    async function submit({ type, text }: Body): Promise<void> {
      while (!signal.aborted) {
        const headers = { 'content-type': type }
        const { status, body } = await ask(name, { method: 'POST', path: '/jobs', headers, sent: text }, { signal })
        if (status !== undefined && status !== 503) {
          if (status < 300) own.jobs.add((JSON.parse(body) as JobView).id)
          return
        }
        await setTimeout(AGAIN_MS)
      }
    }

    const get = (path: string, headers = {}) => ask(name, { method: 'GET', path, headers }, { signal })

    function newBatch(random: Random, count?: number): Batch {
      own.made += 1
      const batch = makeBatch(`${name}-${own.made}`, kinds, random, count)
      own.batches.push(batch)
      return batch
    }

    const submitOneOf = async (batches: readonly Batch[], random: Random, more = {}) => {
      const recent = batches.slice(-REMEMBERED_MAX)
      if (recent.length > 0) await submit(spell(random.pick(recent), random, more))
    }
    /** Path of a job that the caller knows, or of none. */
    const aJob = (random: Random) => `/jobs/${random.pick(['none', ...own.jobs].slice(-REMEMBERED_MAX))}`
    const aTarget = (random: Random) => `${aJob(random)}/targets/${random.whole(0, 3)}`
    const another = (random: Random) => all.get(random.pick(names)) ?? own

    const actions: Readonly<Record<keyof typeof ACTIONS, (random: Random) => Promise<unknown>>> = {
      submit: (random) => submit(spell(newBatch(random), random)),
      submitTwiceAtOnce(random) {
        const batch = newBatch(random)
        return Promise.all([submit(spell(batch, random)), submit(spell(batch, random))])
      },
      submitAgain: (random) => submitOneOf(own.batches, random),
      submitAnew: (random) => submitOneOf(own.batches, random, { reuse: false }),
      submitWhatAnotherDid: (random) => submitOneOf(another(random).batches, random),
      submitTooMany: (random) =>
        submit(spell(makeBatch(`${name}-many`, kinds, random, targetsPerJobMax + random.whole(1, 3)), random)),
      submitNonsense: (random) => submit({ type: 'application/json', text: random.pick(NONSENSE) }),
      read: (random) => get(aJob(random)),
      readSummary: (random) => get(`${aJob(random)}?view=summary`),
      async readIfChanged(random) {
        const path = aJob(random)
        const { etag } = await get(path)
        if (etag !== undefined) await get(path, { 'if-none-match': etag })
      },
      readTarget: (random) => get(aTarget(random)),
      readContent: (random) => get(aTarget(random), { accept: 'text/plain' }),
      readLines: (random) => get(`${aJob(random)}/results?from=${random.whole(0, 3)}`),
      wait: (random) => get(aJob(random), { prefer: `wait=${random.whole(1, 5)}` }),
      async follow(random) {
        const afterMs = random.chance(0.5) ? random.whole(20, 3_000) : FOLLOW_MS_MAX
        const path = `${aJob(random)}/results?follow=true&from=${random.whole(0, 2)}`
        followers.add(ask(name, { method: 'GET', path }, { signal, afterMs }))
      },
      cancel: (random) => ask(name, { method: 'DELETE', path: aJob(random) }, { signal }),
      list: (random) => get(`/jobs?limit=${random.whole(1, 100)}`),
      pry: (random) => get(`/jobs/${[...another(random).jobs].at(-1) ?? 'none'}`),
    }

    const followers = new Set<Promise<Answer>>()
    return {
      name,
      async run(random) {
        while (!signal.aborted) {
          await actions[random.weighted(ACTIONS)](random)
          await setTimeout(random.whole(PAUSE_MS.min, PAUSE_MS.max))
        }
        await Promise.all(followers)
      },
      async readAll() {
        for (let after = ''; ;) {
          const { body } = await ask(name, { method: 'GET', path: `/jobs?limit=100${after}` })
          const { jobs, next } = JSON.parse(body) as JobList
          for (const { id } of jobs) own.jobs.add(id)
          if (next === undefined) break
          after = `&after=${next}`
        }
        for (const id of own.jobs) await ask(name, { method: 'GET', path: `/jobs/${id}` })
      },
    }
  }

  return names.map(createCaller)
}

/** Bodies that are refused, each for another reason. */
const NONSENSE = [
  '{"targets":[]}',
  '{"targets":[{"url":"ftp://a.example/"}]}',
  '{"targets":[{"url":"http://a.example/","options":{"grep":"("}}]}',
  '{"targets":[{"url":"http://a.example/","options":{"jq":"]"}}]}',
  '{"targets":[{"url":"http://a.example/"}],"speed":"fast"}',
]
