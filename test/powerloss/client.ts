import type { JobView, Target, TargetView } from '../../src/jobs/schema.ts'
import { linesOf } from '../helpers/lines-of.ts'

/** Milliseconds for one answer to the end, of a service that strace slows down. */
const ANSWER_MS_MAX = 120_000
const JSON_BODY = { 'content-type': 'application/json' }

/** One caller of the service. Whatever it asks for fails once the service has died. */
export interface Client {
  /** @returns the id of the job. */
  submit(targets: readonly Target[]): Promise<string>
  /** Reads the outcomes from `from` on, before `end`, as they come; after the last one of the job, its end. */
  follow(id: string, range?: { readonly from?: number; readonly end?: number }): Promise<void>
  cancel(id: string): Promise<void>
  /** Reads the caller's newest job with its results, if there is one. */
  readLatest(): Promise<void>
}

/** @param onOutcome is told the URL of each target whose outcome came whole. */
export function createClient(origin: string, caller: string, onOutcome: (url: string) => void): Client {
  const headers = { 'x-caller-id': caller }
  /** @throws {Error} unless the answer is a success, or that the job has expired. */
  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(origin + path, { headers, signal: AbortSignal.timeout(ANSWER_MS_MAX), ...init })
    if (!response.ok && response.status !== 404) throw new Error(`${path} was answered ${response.status}.`)
    return response
  }
  return {
    async submit(targets) {
      const body = JSON.stringify({ targets })
      const response = await send('/jobs', { method: 'POST', headers: { ...headers, ...JSON_BODY }, body })
      return ((await response.json()) as JobView).id
    },
    async follow(id, { from = 0, end = Infinity } = {}) {
      const { ok, body } = await send(`/jobs/${id}/results?follow=true&from=${from}`)
      if (!ok || !body) return
      for await (const line of linesOf(body)) {
        const { idx, url } = JSON.parse(line) as TargetView
        onOutcome(url)
        if (idx + 1 >= end) return
      }
      await (await send(`/jobs/${id}?view=summary`)).text()
    },
    async cancel(id) {
      await (await send(`/jobs/${id}`, { method: 'DELETE' })).text()
    },
    async readLatest() {
      const { jobs } = (await (await send('/jobs?limit=1')).json()) as { jobs: JobView[] }
      if (jobs[0]) await (await send(`/jobs/${jobs[0].id}`)).text()
    },
  }
}
