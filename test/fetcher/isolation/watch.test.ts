import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { expect, it } from 'vitest'

const WATCH = new URL('../../../src/fetcher/isolation/watch.ts', import.meta.url).href

/** How a program ends, by code or signal, that watches itself. */
async function endOf(rssBytesMax: number, rest: string): Promise<unknown[]> {
  const program = `const { startWatch } = await import(${JSON.stringify(WATCH)}); const watch = startWatch(${rssBytesMax}); ${rest}`
  return once(spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' }), 'exit')
}

it('kills a process that uses too much memory while its only thread is stuck', async () => {
  expect(await endOf(1, 'watch.busy(); for (;;);')).toEqual([null, 'SIGKILL'])
})

it('leaves an idle process, and one within its limit, alone', async () => {
  const work = 'const end = Date.now() + 300; while (Date.now() < end);'
  expect(await endOf(1, work)).toEqual([0, null])
  expect(await endOf(2 ** 40, `watch.busy(); ${work} watch.idle()`)).toEqual([0, null])
})
