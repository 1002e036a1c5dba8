// The delay of the service's event loop while the heaviest pages convert in child processes, beside an idle loop.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

import { createConverter } from '../src/fetcher/isolation/converter.ts'
import { heavyPages } from '../test/helpers/heavy-pages.ts'

const IDLE_MS = 2_000

const delay = monitorEventLoopDelay({ resolution: 5 })
const rows: Record<string, object> = { idle: await measured(() => setTimeout(IDLE_MS)) }
const converter = createConverter({})
for (const [name, html] of Object.entries(heavyPages)) {
  const body = Buffer.from(html())
  const source = { body, url: 'https://a.example/', contentType: 'text/html', mode: 'auto' } as const
  rows[name] = await measured(() => converter.convert(source, new AbortController().signal))
}
await converter.close()
console.table(rows)

async function measured(work: () => Promise<unknown>): Promise<object> {
  delay.reset()
  delay.enable()
  const startedAt = performance.now()
  await work()
  delay.disable()
  const ms = (nanoseconds: number) => Math.round(nanoseconds / 1e5) / 10
  return {
    'took ms': Math.round(performance.now() - startedAt),
    'p99 delay ms': ms(delay.percentile(99)),
    'max delay ms': ms(delay.max),
  }
}
