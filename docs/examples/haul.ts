// Fetches every URL of a list, 32 a job, and prints one JSON line per URL, in the order of the list; `idx` counts through
// the list. Usage: node haul.ts urls.txt > results.ndjson (Node 24, no packages)
// PAGEHAUL is the address of the service, HAUL_KEY an API key if it wants one, HAUL_TRIES how often, once a second,
// to try a service that does not answer. What a stop of the service left out is fetched when it is back. Run again, it
// goes on where it was: the same list is the same job, so nothing is fetched twice.
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const { PAGEHAUL: service = 'http://127.0.0.1:8080', HAUL_KEY: key, HAUL_TRIES: tries = '60' } = process.env
const JOB_SIZE = 32
let left = Number(tries)
let printed = 0

/** Undefined if there is no answer. */
async function request(path: string, method = 'GET', body?: string): Promise<Response | undefined> {
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  return fetch(service + path, { method, headers, body: body ?? null }).catch(() => undefined)
}

async function pause(): Promise<void> {
  if (left === 0) throw new Error(`haul: gave up after ${printed} lines; run it again to go on`)
  left -= 1
  await setTimeout(1_000)
}

/** Asks until it gets an answer: the path of the job in it, and the job. */
async function ask(...what: Parameters<typeof request>) {
  for (;;) {
    const response = await request(...what)
    const text = await response?.text().catch(() => undefined)
    if (!response || text === undefined || response.status >= 500) await pause()
    else if (response.status === 429) await setTimeout(Number(response.headers.get('retry-after')) * 1_000)
    else if (!response.ok) throw new Error(text)
    else return { job: response.headers.get('location') ?? '', view: JSON.parse(text) }
  }
}

/** The lines until the stream ends or breaks, without one that was cut off. */
async function* follow(path: string): AsyncGenerator<string, void> {
  const response = await request(path)
  if (!response?.ok || !response.body) return
  let rest = ''
  try {
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch {
    // What is missing is asked for again.
  }
}

const lines = readFileSync(process.argv[2] ?? 'urls.txt', 'utf8').split('\n')
const urls = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
for (let start = 0; start < urls.length; start += JOB_SIZE) {
  const targets = urls.slice(start, start + JOB_SIZE).map((url) => ({ url }))
  let { job } = await ask('/jobs', 'POST', JSON.stringify({ targets }))
  for (let from = 0; ;) {
    for await (const line of follow(`${job}/results?follow=true&from=${from}`)) {
      process.stdout.write(`${JSON.stringify({ ...JSON.parse(line), idx: printed })}\n`)
      printed += 1
      from += 1
      left = Number(tries)
    }
    if (printed === start + targets.length) break
    await pause()
    const { view } = await ask(`${job}?view=summary`)
    if (view.finished_at !== undefined && from >= view.targets_done) {
      from -= view.targets_done - view.targets_failed // The retry has all but the targets that succeeded.
      job = (await ask(`${job}/retry`, 'POST')).job
    }
  }
}
