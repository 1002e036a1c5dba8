import { expect, it } from 'vitest'

import { check, type RuleName } from './check.ts'
import type { Entry, Exchange, Hit, Settings, StoredJob } from './log.ts'
import { summary } from './summary.ts'

const LEASE_MS = 5_000
const ECHO = 'http://127.7.0.1:1000'
const GONE = 'http://127.7.0.2:1000'
const FLAKY = 'http://127.7.0.3:1000'

const SETTINGS: Settings = {
  kind: 'settings',
  at: 0,
  seed: 1,
  leaseMs: LEASE_MS,
  targetTimeoutMs: 2_000,
  stopMsMax: 5_000,
  targetsPerJobMax: 4,
  jobsPerCallerMax: 1,
  jobsTotalMax: 2,
  expectations: [
    { name: 'echo', origin: ECHO, outcome: 'done', requests: 1, content: { is: 'path' } },
    { name: 'gone', origin: GONE, outcome: 'http_404', requests: 1 },
    { name: 'flaky', origin: FLAKY, outcome: 'http_500', requests: 3 },
  ],
}

/** A run by name of what happened, in order. */
type Story = Record<string, Entry | Hit>
type Change = (story: Story) => Story

const time = (at: number) => new Date(at).toISOString()
const id = (letter: string) => `01900000-0000-7000-8000-00000000000${letter}`

interface Facts {
  readonly id: string
  readonly urls: readonly string[]
  readonly status: string
  readonly createdAt: number
  /** When each outcome came, and what it was; JSON as stored. */
  readonly outcomes?: readonly (readonly [at: number, outcome: string])[]
  readonly finishedAt?: number
  readonly error?: string
  readonly reused?: boolean
}

const done = (content: string) => JSON.stringify({ result: { content, meta: { attempts: 1 } } })
const failed = (error: string) => JSON.stringify({ error, message: 'No.', hint: 'Try.' })
const isFailed = (outcome: string) => outcome.startsWith('{"error"')

function target(url: string, idx: number, outcome: string | undefined): string {
  const status = outcome === undefined ? 'pending' : isFailed(outcome) ? 'failed' : 'done'
  const head = JSON.stringify({ idx, url, status })
  return outcome === undefined ? head : `${head.slice(0, -1)},${outcome.slice(1)}`
}

/** A job as the service would show it. */
function shown({ id, urls, status, createdAt, outcomes = [], finishedAt, error, reused }: Facts): string {
  const head = {
    id,
    status,
    targets_total: urls.length,
    targets_done: outcomes.length,
    targets_failed: outcomes.filter(([, outcome]) => isFailed(outcome)).length,
    ...(error !== undefined && { error }),
    created_at: time(createdAt),
    started_at: time(createdAt),
    ...(finishedAt !== undefined && { finished_at: time(finishedAt) }),
    expires_at: time((outcomes.at(-1)?.[0] ?? createdAt) + LEASE_MS),
    ...(reused !== undefined && { reused }),
  }
  const targets = urls.map((url, idx) => target(url, idx, outcomes[idx]?.[1]))
  return `${JSON.stringify(head).slice(0, -1)},"targets":[${targets.join(',')}]}`
}

/** The same without its targets. */
const listed = (job: Facts): object => ({ ...(JSON.parse(shown(job)) as object), targets: undefined })

function exchange(caller: string, sentAt: number, answer: string, more: Partial<Exchange> = {}): Exchange {
  return {
    kind: 'exchange',
    caller,
    method: 'GET',
    path: '/jobs',
    sentAt,
    at: sentAt + 5,
    status: 200,
    answer,
    ...more,
  }
}

const submit = (caller: string, sentAt: number, job: Facts, more: Partial<Exchange> = {}) =>
  exchange(caller, sentAt, shown(job), {
    method: 'POST',
    status: job.finishedAt === undefined ? 202 : 200,
    sent: JSON.stringify({ targets: job.urls.map((url) => ({ url })) }),
    ...more,
  })

const read = (caller: string, sentAt: number, job: Facts, more: Partial<Exchange> = {}) =>
  exchange(caller, sentAt, shown(job), { path: `/jobs/${job.id}`, ...more })

const problem = (code: string, more: object = {}) => JSON.stringify({ code, ...more })

const stored = ({ id, urls, status, createdAt, outcomes = [] }: Facts, caller: string): StoredJob => ({
  kind: 'stored',
  id,
  caller: `id:${caller}`,
  status,
  targetsDone: outcomes.length,
  targetsFailed: outcomes.filter(([, outcome]) => isFailed(outcome)).length,
  expiresAt: (outcomes.at(-1)?.[0] ?? createdAt) + LEASE_MS,
  urls,
  outcomes: urls.map((_, idx) => outcomes[idx]?.[1] ?? null),
})

const hit = (at: number, behaviour: string, path: string, event: Hit['event'] = 'request'): Hit => ({
  at,
  behaviour,
  path,
  event,
})

const A: Facts = {
  id: id('a'),
  urls: [`${ECHO}/batch-a/0`, `${GONE}/batch-a/1`, `${ECHO}/batch-a/2`],
  status: 'running',
  createdAt: 1_002,
}
const A_OUTCOMES = [
  [1_030, done('/batch-a/0')],
  [1_050, failed('http_404')],
  [1_080, done('/batch-a/2')],
] as const
const A_TWO: Facts = { ...A, outcomes: A_OUTCOMES.slice(0, 2) }
const A_END: Facts = { ...A, status: 'partial', outcomes: A_OUTCOMES, finishedAt: 1_080 }
const B: Facts = {
  id: id('b'),
  urls: [`${ECHO}/batch-b/0`, `${ECHO}/batch-b/1`, `${ECHO}/batch-b/2`],
  status: 'running',
  createdAt: 2_002,
}
const B_CUT: Facts = { ...B, status: 'cancelled', finishedAt: 2_052 }
const B_END: Facts = { ...B_CUT, outcomes: [[2_070, done('/batch-b/0')]] }
const C: Facts = { id: id('c'), urls: [`${FLAKY}/batch-c/0`, `${ECHO}/batch-c/1`], status: 'running', createdAt: 3_002 }
const C_END: Facts = { ...C, status: 'failed', error: 'restart', finishedAt: 3_150 }
const D: Facts = { ...A, id: id('d'), createdAt: 7_102 }
const D_END: Facts = {
  ...D,
  status: 'partial',
  outcomes: A_OUTCOMES.map(([at, outcome]) => [at + 6_100, outcome] as const),
  finishedAt: 7_180,
}

/** A run without a fault: a job of each kind of end, a kill, a stop, a lease that ends. Two more stops end it. */
const STORY: Story = {
  settings: SETTINGS,
  tick: { kind: 'tick', at: 0, monotonicMs: 500 },
  start: { kind: 'process', at: 0, event: 'start', life: 1 },
  up: { kind: 'process', at: 100, event: 'up', life: 1 },
  aSubmitted: submit('alice', 1_000, { ...A, reused: false }),
  aHit0: hit(1_010, 'echo', '/batch-a/0'),
  aHit0End: hit(1_012, 'echo', '/batch-a/0', 'end'),
  aEarly: read('alice', 1_022, A),
  aHit1: hit(1_035, 'gone', '/batch-a/1'),
  aHit1End: hit(1_036, 'gone', '/batch-a/1', 'end'),
  aBusy: exchange('alice', 1_040, problem('caller_busy', { limit: 1, jobs: [A.id] }), {
    method: 'POST',
    status: 429,
    sent: JSON.stringify({ targets: [{ url: `${ECHO}/batch-x/0` }] }),
  }),
  aHit2: hit(1_055, 'echo', '/batch-a/2'),
  aHit2End: hit(1_056, 'echo', '/batch-a/2', 'end'),
  aRead: read('alice', 1_060, A_TWO),
  aEnd: read('alice', 1_100, A_END),
  aLines: exchange(
    'alice',
    1_110,
    A_END.urls.map((url, idx) => `${target(url, idx, A_OUTCOMES[idx]?.[1])}\n`).join(''),
    { path: `/jobs/${A.id}/results?follow=true` },
  ),
  aAgain: submit('alice', 1_200, { ...A_END, reused: true }),
  aList: exchange('alice', 1_300, JSON.stringify({ jobs: [listed(A_END)] })),
  bSubmitted: submit('bob', 2_000, { ...B, reused: false }),
  bTooMany: exchange('bob', 2_010, problem('too_many_targets', { limit: 4 }), {
    method: 'POST',
    status: 422,
    sent: JSON.stringify({ targets: [0, 1, 2, 3, 4].map((idx) => ({ url: `${ECHO}/batch-y/${idx}` })) }),
  }),
  bHit: hit(2_020, 'echo', '/batch-b/0'),
  bCancelled: exchange('bob', 2_050, shown(B_CUT), { method: 'DELETE', path: `/jobs/${B.id}` }),
  bHitEnd: hit(2_060, 'echo', '/batch-b/0', 'end'),
  bEnd: read('bob', 2_100, B_END),
  cSubmitted: submit('carol', 3_000, { ...C, reused: false }),
  cHit: hit(3_010, 'flaky', '/batch-c/0'),
  kill: { kind: 'process', at: 3_050, event: 'kill', life: 1 },
  cLost: exchange('carol', 3_046, '', { at: 3_051, path: `/jobs/${C.id}`, broken: 'reset' }),
  cHitEnd: hit(3_051, 'flaky', '/batch-c/0', 'end'),
  killed: { kind: 'process', at: 3_060, event: 'exit', life: 1, code: 'SIGKILL' },
  start2: { kind: 'process', at: 3_061, event: 'start', life: 2 },
  up2: { kind: 'process', at: 3_200, event: 'up', life: 2 },
  cEnd: read('carol', 3_300, C_END),
  aGone: exchange('alice', 7_000, problem('job_not_found'), { path: `/jobs/${A.id}`, status: 404 }),
  dSubmitted: submit('alice', 7_100, { ...D, reused: false }),
  dHit0: hit(7_110, 'echo', '/batch-a/0'),
  dHit0End: hit(7_112, 'echo', '/batch-a/0', 'end'),
  dHit1: hit(7_135, 'gone', '/batch-a/1'),
  dHit1End: hit(7_136, 'gone', '/batch-a/1', 'end'),
  dHit2: hit(7_160, 'echo', '/batch-a/2'),
  dHit2End: hit(7_161, 'echo', '/batch-a/2', 'end'),
  dEnd: read('alice', 7_200, D_END),
  stop: { kind: 'process', at: 8_100, event: 'term', life: 2 },
  stopped: { kind: 'process', at: 8_200, event: 'exit', life: 2, code: 0 },
  start3: { kind: 'process', at: 8_201, event: 'start', life: 3 },
  up3: { kind: 'process', at: 8_400, event: 'up', life: 3 },
  lastStop: { kind: 'process', at: 8_500, event: 'term', life: 3 },
  lastStopped: { kind: 'process', at: 8_600, event: 'exit', life: 3, code: 0 },
  start4: { kind: 'process', at: 8_601, event: 'start', life: 4 },
  up4: { kind: 'process', at: 8_800, event: 'up', life: 4 },
  term: { kind: 'process', at: 9_000, event: 'term', life: 4 },
  ended: { kind: 'process', at: 9_100, event: 'exit', life: 4, code: 0 },
  integrity: { kind: 'integrity', verdict: 'ok' },
  aStored: stored(A_END, 'alice'),
  bStored: stored(B_END, 'bob'),
  cStored: stored(C_END, 'carol'),
  dStored: stored(D_END, 'alice'),
  tock: { kind: 'tick', at: 9_200, monotonicMs: 9_700 },
}

const set =
  (name: string, change: object): Change =>
  (story) => ({ ...story, [name]: { ...story[name], ...change } as Entry })
/** Another answer to one exchange, its text edited. */
const said =
  (name: string, from: string, to: string): Change =>
  (story) => {
    const { answer = '' } = story[name] as Exchange
    if (!answer.includes(from)) throw new Error(`${name} does not say ${from}`)
    return set(name, { answer: answer.replace(from, to) })(story)
  }
const add =
  (...entries: (Entry | Hit)[]): Change =>
  (story) => ({ ...story, ...Object.fromEntries(entries.map((entry, index) => [`added${index}`, entry])) })
const drop =
  (...names: string[]): Change =>
  (story) =>
    Object.fromEntries(Object.entries(story).filter(([name]) => !names.includes(name)))

/** Faults of a service, or of the run itself, each with the rule that finds it. */
const FAULTS: Readonly<Record<RuleName, Readonly<Record<string, Change>>>> = {
  eventful: {
    'nobody was killed': set('kill', { event: 'term' }),
    'no job was cancelled': drop('bCancelled', 'bEnd'),
    'nothing was submitted again': drop('aAgain'),
    'no target was done': drop('aRead', 'aEnd', 'aAgain', 'aList', 'bEnd', 'dEnd'),
    'nobody was over a cap': drop('aBusy'),
    'no lease ended': drop('aGone'),
  },
  honestClock: {
    'the clock was set': set('tock', { at: 19_200 }),
    'nobody looked at the clock': drop('tock'),
  },
  answers: {
    'a request was not answered': set('aRead', { broken: 'reset', status: undefined }),
    'a request failed inside': set('aRead', { status: 500, answer: problem('internal_error') }),
    'an answer is no JSON': set('aRead', { answer: '{' }),
    'a submission was refused as if the service stopped': set('aBusy', {
      status: 503,
      answer: problem('shutting_down'),
    }),
    'a target is not found': add(
      exchange('alice', 1_120, problem('target_not_found'), { path: `/jobs/${A.id}/targets/2`, status: 404 }),
    ),
  },
  ownJobsOnly: {
    'a job is shown to another caller': add(read('mallory', 1_150, A_END)),
    'a lost job is stored for another caller': set('aStored', { caller: 'id:mallory' }),
  },
  countsAddUp: {
    'targets_done is too high': said('aRead', '"targets_done":2', '"targets_done":3'),
    'targets_failed is too low': said('aRead', '"targets_failed":1', '"targets_failed":0'),
    'the last target ended and the job did not': said('aEnd', '"status":"partial"', '"status":"running"'),
    'a final state came early': said('aRead', '"status":"running"', '"status":"partial"'),
    'a job failed inside': said('cEnd', '"error":"restart"', '"error":"internal"'),
    'a failed target has no hint': said('aEnd', ',"hint":"Try."', ''),
    'targets changed places': said('aEnd', '"idx":1', '"idx":2'),
  },
  onlyForward: {
    'an outcome is gone': add(read('alice', 1_150, A_TWO)),
    'a final state changed': add(read('alice', 1_150, { ...A_END, status: 'cancelled' })),
    'the end moved': add(read('alice', 1_150, { ...A_END, finishedAt: 1_081 })),
  },
  oneOutcome: {
    'an outcome changed': add(
      read('alice', 1_150, { ...A_END, outcomes: [[1_030, done('/batch-a/0 ')], ...A_OUTCOMES.slice(1)] }),
    ),
    'a summary says something else': add(
      read('alice', 1_150, A_END, {
        path: `/jobs/${A.id}?view=summary`,
        answer: shown(A_END).replace('http_404', 'http_410'),
      }),
    ),
    'the bare content is another': add(
      exchange('alice', 1_150, '/batch-a/1', { path: `/jobs/${A.id}/targets/0`, headers: { accept: 'text/plain' } }),
    ),
    'an acknowledged outcome was lost': add(read('carol', 3_030, { ...C, outcomes: [[3_020, failed('http_500')]] })),
  },
  linesInOrder: {
    'a line is missing': said('aLines', '"idx":1', '"idx":2'),
    'a follower missed the last outcome': set('aLines', {
      answer: `${target(A.urls[0] ?? '', 0, A_OUTCOMES[0][1])}\n`,
    }),
  },
  rightOutcome: {
    'the content of another URL': said('aEnd', '"content":"/batch-a/2"', '"content":"/batch-b/2"'),
    'another code': said('aRead', 'http_404', 'http_500'),
    'a timeout that came too soon': said('aRead', 'http_404', 'timeout'),
  },
  onlyInFlight: {
    'a target started before the one before it was durable': set('aHit2', { at: 1_020 }),
    'a target was asked for after its outcome': add(hit(4_500, 'echo', '/batch-a/0')),
    'a target was asked for after the cancel': add(hit(2_075, 'echo', '/batch-b/1')),
    'a job went on after the kill': add(hit(6_500, 'flaky', '/batch-c/0')),
    'a job that nobody submitted': add(hit(4_500, 'echo', '/batch-z/0')),
  },
  inOrder: {
    'two targets of a job at once': (story) =>
      add(
        hit(2_045, 'echo', '/batch-b/1'),
        hit(2_200, 'echo', '/batch-b/1', 'end'),
      )(set('bHitEnd', { at: 2_150 })(story)),
  },
  rightTries: {
    'a page was asked for twice': add(hit(2_030, 'echo', '/batch-b/0'), hit(2_031, 'echo', '/batch-b/0', 'end')),
    'a page was never asked for': drop('bHit', 'bHitEnd'),
  },
  oneAtATime: {
    'two requests to one host at once': set('aHit0End', { at: 1_058 }),
  },
  nothingForbidden: {
    'a forbidden address': add({ kind: 'touch', at: 1_500, place: '127.0.0.1:1' }),
  },
  idempotent: {
    'the same submission made a second job': add(
      submit('alice', 1_400, { ...A, id: id('e'), createdAt: 1_402, reused: false }),
    ),
    'two at once made two jobs': add(submit('alice', 1_000, { ...A, id: id('e'), createdAt: 1_003, reused: false })),
    'a job of another submission': add(submit('bob', 2_200, { ...B_END, urls: A.urls, reused: true })),
    'other targets': said('aAgain', '/batch-a/0', '/batch-z/0'),
    'a cap was checked first': set('aAgain', {
      status: 429,
      answer: problem('caller_busy', { limit: 1, jobs: [A.id] }),
    }),
    'an expired job was given again': add(submit('bob', 8_000, { ...B_END, reused: true })),
    'no new job although one was asked for': set('aAgain', {
      sent: JSON.stringify({ targets: A.urls.map((url) => ({ url })), reuse: false }),
    }),
  },
  capsKept: {
    'two live jobs of one caller': add(
      submit('alice', 1_020, { ...A, id: id('e'), urls: [`${ECHO}/batch-e/0`], createdAt: 1_021, reused: false }),
      read('alice', 1_050, A),
      read('alice', 1_055, { ...A, id: id('e'), urls: [`${ECHO}/batch-e/0`], createdAt: 1_021 }),
    ),
    'three live jobs in all': add(
      ...['e', 'f'].flatMap((letter) => {
        const job = { ...A, id: id(letter), urls: [`${ECHO}/batch-${letter}/0`], createdAt: 1_021 }
        return [submit(letter, 1_020, { ...job, reused: false }), read(letter, 1_056, job)]
      }),
      read('alice', 1_050, A),
    ),
  },
  fairRefusals: {
    'busy without a job': set('aBusy', { sentAt: 900, at: 905 }),
    'all busy with one job': set('aBusy', { answer: problem('jobs_busy', { limit: 2, jobs: [] }) }),
    'busy with a job that had ended': add(
      exchange('alice', 1_130, problem('caller_busy', { limit: 1, jobs: [A.id] }), {
        method: 'POST',
        status: 429,
        sent: '{}',
      }),
    ),
    'another limit': said('aBusy', '"limit":1', '"limit":2'),
    'too many targets were taken': set('bTooMany', {
      status: 202,
      answer: shown({ ...B, id: id('e'), reused: false }),
    }),
    'too many targets were found in a short list': set('aBusy', {
      status: 422,
      answer: problem('too_many_targets', { limit: 4 }),
    }),
  },
  leaseArithmetic: {
    'the lease is too long': set('aEnd', { answer: shown({ ...A_END }).replace(time(6_080), time(6_081)) }),
    'the lease runs from the future': set('aRead', { answer: shown(A_TWO).replace(time(6_050), time(6_900)) }),
    'the lease moved without an outcome': add(
      read('alice', 1_070, A_TWO, { answer: shown(A_TWO).replace(time(6_050), time(6_060)) }),
    ),
    'the lease of a new job': set('cSubmitted', {
      answer: shown({ ...C, reused: false }).replace(time(8_002), time(9_002)),
    }),
    'an expired job is shown': set('aGone', { status: 200, answer: shown(A_END) }),
  },
  thereUntilExpiry: {
    'a job is not found before its lease ends': set('aGone', { sentAt: 6_000, at: 6_005 }),
  },
  wholeList: {
    'a job is missing': set('aList', { answer: '{"jobs":[]}' }),
    'a job is listed twice': set('aList', {
      answer: JSON.stringify({ jobs: [listed(A_END), listed(A_END)] }),
    }),
  },
  restarts: {
    'a job outlived its process': set('cEnd', { answer: shown(C) }),
    'a restart without a start': said('cEnd', time(3_150), time(3_250)),
    'a job ended by itself after its process': set('cEnd', {
      answer: shown({ ...C_END, status: 'cancelled' }).replace('"error":"restart",', ''),
    }),
  },
  cancels: {
    'an outcome too many after the cancel': add(
      read('bob', 2_150, {
        ...B_CUT,
        outcomes: [
          [2_070, done('/batch-b/0')],
          [2_080, done('/batch-b/1')],
        ],
      }),
    ),
    'a cancel by nobody': drop('bCancelled'),
    'a cancel changed nothing': set('bCancelled', { answer: shown(B) }),
    'a live job could not be cancelled': set('bCancelled', { status: 409, answer: problem('job_finished') }),
  },
  storedAsTold: {
    'the file is damaged': set('integrity', { verdict: 'row 3 missing from index' }),
    'a job is live in the file': set('cStored', { status: 'running' }),
    'a stored outcome differs': set('aStored', {
      outcomes: [done('/batch-a/9'), ...A_OUTCOMES.slice(1).map(([, text]) => text)],
    }),
    'a stored outcome is missing': set('bStored', { outcomes: [null, null, null], targetsDone: 0 }),
    'a stored count is wrong': set('bStored', { targetsDone: 2 }),
    'a job is not in the file': drop('dStored'),
  },
  orderlyExits: {
    'the process ended by itself': drop('kill'),
    'it ended with a fault': set('ended', { code: 1 }),
    'it did not end in time': set('ended', { at: 20_000 }),
    'it is still there': drop('ended'),
  },
}

/** The run as one that lasted ten minutes. */
const long: Change = set('tock', { at: 600_000, monotonicMs: 600_500 })

const LATE = ['timeout', 'filter_timeout', 'timeout']

/** One more job, all of the flaky kind, whose targets end with these codes. */
function flaky(...errors: string[]): Change {
  const urls = errors.map((_, idx) => `${FLAKY}/batch-e/${idx}`)
  const outcomes = errors.map((error) => [7_500, failed(error)] as const)
  const job = { id: id('e'), urls, status: 'failed', createdAt: 7_400, outcomes, finishedAt: 7_500 }
  return add(read('dave', 7_600, job))
}

/** What the rule `eventful` says of a long run in which too little happened. */
const UNEVENTFUL: Readonly<Record<string, Change>> = {
  'no process was told to stop': drop('stop'),
  'no job failed for a restart': drop('cEnd'),
  '9 of 17 targets took too long': flaky('http_500', ...LATE, ...LATE, ...LATE),
  '1 of 2 kinds never ended as they should: flaky': flaky(...LATE),
}

async function checked(story: Story): ReturnType<typeof check> {
  const entries = Object.values(story).flatMap((told) => ('kind' in told ? told : []))
  const hits = Object.values(story).flatMap((told) => ('kind' in told ? [] : told))
  return check(
    entries,
    hits.toSorted((one, other) => one.at - other.at),
  )
}

const brokenRules = async (story: Story) => (await checked(story)).violations.map(({ rule }) => rule)

it('finds nothing wrong with a run that has no fault', async () => {
  expect(await brokenRules(STORY)).toEqual([])
  expect(await brokenRules(long(STORY))).toEqual([])
})

const faults = Object.entries(FAULTS).flatMap(([rule, changes]) =>
  Object.entries(changes).map(([name, change]) => [rule as RuleName, name, change] as const),
)

it.each(faults)('%s: %s', async (rule, _name, change) => {
  expect(await brokenRules(change(STORY))).toContain(rule)
})

it.each(Object.entries(UNEVENTFUL))('wants more of a long run: %s', async (says, change) => {
  const said = async (story: Story) => (await checked(story)).violations.filter(({ rule }) => rule === 'eventful')
  expect(await said(long(change(STORY)))).toEqual([{ rule: 'eventful', says }])
  expect(await said(change(STORY))).toEqual([])
})

it('tells how the targets ended', async () => {
  const { history } = await checked(flaky(...LATE)(STORY))
  const told = summary(history, 9_200)
  expect(told).toContain('outcomes: 10 (7 as their kind should, 3 too late)')
  expect(told).toContain('kinds of targets: 3 (3 came up, 2 ended as they should)')
})
