import fc from 'fast-check'
import { expect } from 'vitest'

import type { JobView, TargetView } from '../../src/jobs/schema.ts'
import type { FetchCall } from './fake-fetch.ts'
import { buildService } from './service.ts'
import { createWitness, type Witness } from './witness.ts'

const CALLERS = ['alice', 'bob', 'carol']
const CAPS = { jobsPerCallerMax: 2, jobsTotalMax: 4 }

/** Something that happens to a service. `which` picks among what there is, the latest first. */
export type Step =
  | { readonly do: 'submit'; readonly caller: number; readonly count: number }
  | { readonly do: 'succeed' | 'fail' | 'throw' | 'cancel' | 'retry'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'restart' }

const which = fc.nat(20)
/** What happens, in order. */
export const STEPS = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('submit' as const),
        caller: fc.nat(CALLERS.length - 1),
        count: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('succeed' as const, 'fail' as const), which }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'retry' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('throw' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1_000, 60_000) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  ),
  { minLength: 6, maxLength: 16 },
)

/** A service on a file, with its restarts and a witness of each of its jobs. `await using` closes it. */
export async function openWorld(file: string) {
  let service = await buildService({ file, ...CAPS })
  const witnesses: Witness[] = []
  /** Fetches that have not ended. */
  let inFlight: FetchCall[] = []
  let followers: Promise<void>[] = []
  /** What was told to a follower that was told the end, too. */
  const followedToEnd = new Map<string, readonly TargetView[]>()
  let submissions = 0

  function takeCalls(): void {
    inFlight = []
    service.fetch.answer((call) => inFlight.push(call))
  }

  function ask(url: string, caller: string, method: 'GET' | 'POST' | 'DELETE' = 'GET', payload?: object) {
    const headers = { 'x-caller-id': caller }
    return service.app.inject({ method, url, headers, ...(payload && { payload }) })
  }

  async function take(step: Step): Promise<void> {
    switch (step.do) {
      case 'submit':
        return submit(CALLERS[step.caller] ?? '', step.count)
      case 'wait':
        return service.clock.advance(step.ms)
      case 'restart':
        return restart()
      case 'cancel':
        return cancel(pick(witnesses, step.which))
      case 'retry':
        return retry(pick(witnesses, step.which))
      case 'succeed':
      case 'fail':
      case 'throw':
        return endFetch(step.do, step.which)
    }
  }

  async function submit(caller: string, count: number): Promise<void> {
    const batch = submissions++
    const targets = Array.from({ length: count }, (_, idx) => ({
      url: `https://t${batch}.example/${idx}`,
      ...(idx % 2 > 0 && { custom_id: `${batch}-${idx}` }),
    }))
    const answer = await ask('/jobs', caller, 'POST', { targets })
    if (answer.statusCode !== 429) watch(answer.json(), caller, targets)
  }

  function watch(job: JobView, caller: string, sent: Witness['sent']): void {
    const witness = createWitness(job.id, caller, sent)
    witness.seeJob(job, { results: true }, witness.told())
    witnesses.push(witness)
    followers.push(follow(witness))
  }

  /** Follows the job to its end or that of the process, whichever comes first. */
  async function follow(witness: Witness): Promise<void> {
    const { id, caller } = witness
    const [lines, events] = await Promise.all([
      ask(`/jobs/${id}/results?follow=true`, caller),
      ask(`/jobs/${id}/events`, caller),
    ])
    witness.seeOutcomes(parseLines(lines.body), { results: true })
    const { targets, jobs } = parseEvents(events.body)
    witness.seeOutcomes(targets, { results: false })
    for (const { id: ended } of jobs) followedToEnd.set(ended, targets)
  }

  function endFetch(how: 'succeed' | 'fail' | 'throw', at: number): void {
    const call = pick(inFlight, at)
    if (!call) return
    inFlight = inFlight.filter((other) => other !== call)
    if (how === 'succeed') call.succeed(`${call.url} at ${service.clock.now()}`)
    else if (how === 'fail') call.fail('http_503')
    else call.reject(new Error('boom'))
  }

  async function cancel(witness: Witness | undefined): Promise<void> {
    if (!witness) return
    const before = witness.told()
    const answer = await ask(`/jobs/${witness.id}`, witness.caller, 'DELETE')
    if (answer.statusCode === 200) {
      witness.seeJob(answer.json(), { results: true }, before)
      expect(answer.json()).toMatchObject({ status: 'cancelled' })
    } else {
      expect(answer.json()).toMatchObject({ code: 'job_finished' })
      expect(['done', 'partial', 'failed']).toContain((await read(witness)).status)
    }
  }

  async function retry(witness: Witness | undefined): Promise<void> {
    if (!witness) return
    const job = await read(witness)
    const answer = await ask(`/jobs/${witness.id}/retry`, witness.caller, 'POST')
    const left = job.targets.filter(({ status }) => status !== 'done')
    if (answer.statusCode === 429) return
    if (answer.statusCode === 409) {
      // Live, or cancelled with a target in flight; or there is nothing to do.
      if (answer.json().code === 'nothing_to_retry') expect((await read(witness)).status).toBe('done')
      else expect(['running', 'cancelled']).toContain(job.status)
      return
    }
    const retried = answer.json<JobView>()
    const known = witnesses.find(({ id }) => id === retried.id)
    const sent = left.map(({ url, custom_id }) => ({ url, ...(custom_id !== undefined && { custom_id }) }))
    expect(retried).toMatchObject({ retry_of: witness.id, reused: known !== undefined })
    expect(retried.targets).toMatchObject(sent)
    if (!known) watch(retried, witness.caller, sent)
  }

  async function read({ id, caller }: Witness): Promise<JobView> {
    return (await ask(`/jobs/${id}`, caller)).json()
  }

  /** What a killed process leaves behind, and what the next one makes of it. */
  async function restart(): Promise<void> {
    const { clock, jobs, app, store } = service
    jobs.stop() // Only so that no follower of the dead process stays behind.
    await Promise.all(followers)
    await app.close()
    await store.close()
    service = await buildService({ file, ...CAPS })
    service.clock.advance(clock.now() - service.clock.now())
    await service.store.failInterrupted(service.clock.now())
    takeCalls()
    followers = []
  }

  /** Asks for every view of a job at once, while whatever else goes on. */
  async function poll(witness: Witness | undefined): Promise<void> {
    if (!witness) return
    const { id, caller } = witness
    const before = witness.told()
    const view = (path: string) => ask(`/jobs/${id}${path}`, caller)
    const [full, summary, lines, target, list] = await Promise.all([
      view(''),
      view('?view=summary'),
      view('/results'),
      view('/targets/0'),
      ask('/jobs?limit=100', caller),
    ])
    witness.seeJob(full.json(), { results: true }, before)
    witness.seeTag(String(full.headers.etag), full.body)
    witness.seeJob(summary.json(), { results: false }, before)
    const outcomes = parseLines(lines.body)
    expect(outcomes.length).toBeGreaterThanOrEqual(before.done)
    witness.seeOutcomes(outcomes, { results: true })
    if (target.json<TargetView>().status !== 'pending') witness.seeOutcomes([target.json()], { results: true })
    const listed = list.json<{ jobs: JobView[] }>().jobs
    const ids = listed.map((job) => job.id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    expect(ids).toContain(id)
    for (const job of listed) if (job.id === id) witness.seeSummary(job, before)
  }

  /** Lets everything end, and compares what each view says then. */
  async function end(): Promise<void> {
    service.fetch.answer((call) => call.succeed(call.url))
    for (const call of inFlight) call.succeed(call.url)
    await service.runner.idle()
    await Promise.all(followers)
    for (const witness of witnesses) {
      await poll(witness)
      const { id, caller } = witness
      const { targets, ...job } = await read(witness)
      const ended = targets.filter(({ status }) => status !== 'pending')
      expect(job.finished_at).toBeDefined()
      const lines = await ask(`/jobs/${id}/results?follow=true`, caller)
      expect(parseLines(lines.body)).toEqual(ended)
      const events = parseEvents((await ask(`/jobs/${id}/events`, caller)).body)
      expect(events.jobs).toEqual([job])
      const withoutResults = ended.map(({ result: _, ...target }) => target)
      expect(events.targets).toEqual(withoutResults)
      expect(followedToEnd.get(id) ?? withoutResults).toEqual(withoutResults)
    }
  }

  takeCalls()
  return {
    witnesses,
    take,
    poll,
    end,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

function pick<T>(list: readonly T[], at: number): T | undefined {
  return list.at(-1 - (at % Math.max(1, list.length)))
}

function parseLines(body: string): TargetView[] {
  return body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as TargetView]))
}

function parseEvents(body: string): { targets: TargetView[]; jobs: JobView[] } {
  const data = (type: string) =>
    [...body.matchAll(new RegExp(`^event: ${type}\nid: .*\ndata: (.*)$`, 'gm'))].map(([, json = '']) =>
      JSON.parse(json),
    )
  return { targets: data('target'), jobs: data('job') }
}
