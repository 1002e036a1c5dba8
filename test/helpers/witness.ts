import { expect } from 'vitest'

import type { JobSummary, JobView, Target, TargetView } from '../../src/jobs/schema.ts'

const FINAL = ['done', 'partial', 'failed', 'cancelled']

/** What a view of a job leaves out. */
interface View {
  /** Whether the contents of done targets are in it. */
  readonly results: boolean
}

/** What has been told of a job so far. */
interface Told {
  readonly done: number
  readonly final:
    | { readonly status: string; readonly finished_at: string | undefined; readonly error: string | undefined }
    | undefined
}

/** Remembers everything that is told of one job, and finds whatever contradicts it or itself. */
export interface Witness {
  readonly id: string
  readonly caller: string
  readonly sent: readonly Pick<Target, 'url' | 'custom_id'>[]
  /** What an answer that is asked for from now on may not fall behind. */
  told(): Told
  /** @param before what was told before the answer was asked for. */
  seeSummary(job: JobSummary, before: Told): void
  seeJob(job: JobView, view: View, before: Told): void
  /** Targets with an outcome from `from` on, without a gap. */
  seeOutcomes(targets: readonly TargetView[], view: View, from?: number): void
  /** The same tag is the same job. */
  seeTag(tag: string, body: string): void
}

export function createWitness(id: string, caller: string, sent: Witness['sent']): Witness {
  const outcomes = new Map<string, string>()
  const tags = new Map<string, string>()
  let done = 0
  let final: Told['final']

  function seeTarget(target: TargetView, idx: number, { results }: View): void {
    const { status, result, error, message, hint } = target
    expect(target).toMatchObject({ idx, ...sent[idx] })
    expect('custom_id' in target).toBe(sent[idx]?.custom_id !== undefined)
    expect(result !== undefined).toBe(results && status === 'done')
    for (const reason of [error, message, hint]) expect(reason !== undefined).toBe(status === 'failed')
    if (status === 'pending') return
    seeOnce(outcomes, `${idx}`, JSON.stringify([status, error, message, hint]))
    if (results) seeOnce(outcomes, `${idx} with content`, JSON.stringify(result ?? {}))
  }

  function seeSummary(job: JobSummary, before: Told): void {
    const { status, targets_total: total, targets_done: ended, targets_failed: failed, finished_at, error } = job
    expect(job).toMatchObject({ id, targets_total: sent.length, started_at: expect.any(String) })
    const isFinal = FINAL.includes(status)
    expect(finished_at !== undefined).toBe(isFinal)
    expect('worst_case_s' in job).toBe(!isFinal)
    expect(ended).toBeGreaterThanOrEqual(before.done)
    expect(ended).toBeLessThanOrEqual(total)
    expect(failed).toBeLessThanOrEqual(ended)
    if (error !== undefined) expect(status).toBe('failed')
    else if (status !== 'cancelled') expect(status).toBe(expectedStatus(total, ended, failed))
    if (before.final) expect({ status, finished_at, error }).toEqual(before.final)
    done = Math.max(done, ended)
    if (isFinal) final = { status, finished_at, error }
  }

  return {
    id,
    caller,
    sent,
    told: () => ({ done, final }),
    seeSummary,
    seeJob(job, view, before) {
      seeSummary(job, before)
      const statuses = job.targets.map(({ status }) => status)
      expect(statuses).toHaveLength(sent.length)
      expect(statuses.filter((status) => status !== 'pending')).toHaveLength(job.targets_done)
      expect(statuses.filter((status) => status === 'failed')).toHaveLength(job.targets_failed)
      expect(statuses.slice(job.targets_done)).toEqual(statuses.slice(job.targets_done).map(() => 'pending'))
      for (const [idx, target] of job.targets.entries()) seeTarget(target, idx, view)
    },
    seeOutcomes(targets, view, from = 0) {
      for (const [position, target] of targets.entries()) {
        expect(target.status).not.toBe('pending')
        seeTarget(target, from + position, view)
      }
    },
    seeTag: (tag, body) => seeOnce(tags, tag, body),
  }
}

/** The status of a job that nothing has cut short. */
export function expectedStatus(total: number, done: number, failed: number): string {
  if (done < total) return 'running'
  if (failed === 0) return 'done'
  return failed === total ? 'failed' : 'partial'
}

function seeOnce(seen: Map<string, string>, key: string, value: string): void {
  expect(value).toBe(seen.get(key) ?? value)
  seen.set(key, value)
}
