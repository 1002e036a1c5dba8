// Fetches every URL of a list, 32 a job, and prints one JSON line per URL, in the order of the list.
// Usage: node haul.ts urls.txt > results.ndjson (Node 24, no packages)
// PAGEHAUL is the address of the service, PAGEHAUL_KEY an API key if it wants one. Run again after a break, it goes on
// where it was: the same list is the same job, so nothing is fetched twice.
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const { PAGEHAUL: service = 'http://127.0.0.1:8080', PAGEHAUL_KEY: key } = process.env
const JOB_SIZE = 32
const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }

/** The path of the job; waits while another job of ours is running. */
async function submit(urls: readonly string[]): Promise<string> {
  for (;;) {
    const response = await fetch(`${service}/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify({ targets: urls.map((url) => ({ url })) }),
    })
    if (response.ok) return response.headers.get('location') ?? ''
    if (response.status !== 429 && response.status !== 503) throw new Error(await response.text())
    await setTimeout(Number(response.headers.get('retry-after')) * 1_000)
  }
}

const lines = readFileSync(process.argv[2] ?? 'urls.txt', 'utf8').split('\n')
const urls = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
for (let start = 0; start < urls.length; start += JOB_SIZE) {
  const job = await submit(urls.slice(start, start + JOB_SIZE))
  const results = await fetch(`${service}${job}/results?follow=true`, { headers: authorization })
  for await (const chunk of results.body ?? []) process.stdout.write(chunk)
}
