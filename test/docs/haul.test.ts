import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

import { expect, it } from 'vitest'

import type { TargetView } from '../../src/jobs/schema.ts'
import { hasProgram } from '../helpers/has-program.ts'
import { startService } from '../helpers/process.ts'
import { serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const URLS = 70

/** Each needs what it is written in; a machine without Python runs the other two. */
const SCRIPTS = [
  { script: 'haul.sh', program: 'bash', needs: 'curl' },
  { script: 'haul.py', program: 'python3', needs: 'python3' },
  { script: 'haul.ts', program: process.execPath, needs: 'node' },
].filter(({ needs }) => hasProgram(needs))

it.each(SCRIPTS)(
  'docs/examples/$script fetches a long list in jobs and prints a line for each URL, in order',
  async ({ script, program }) => {
    const body = (place: string) => ({ type: 'text/plain', body: `I am ${place}` })
    const paths = Array.from({ length: URLS }, (_, index) => `/${index}`)
    await using pages = await serve(Object.fromEntries(paths.slice(1).map((place) => [place, body(place)])))
    using folder = tempFolder()
    const list = folder.file('urls.txt')
    writeFileSync(list, `# pages\n\n${paths.map((place) => pages.origin + place).join('\n')}\n`)
    const service = await startService({ DATABASE_URL: ':memory:' })
    try {
      const { stdout } = await promisify(execFile)(program, [`docs/examples/${script}`, list], {
        env: { ...process.env, PAGEHAUL: service.origin },
        timeout: 60_000,
      })
      const targets = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as TargetView)
      expect(targets.map(({ result, error }) => result?.content ?? error)).toEqual([
        'http_404',
        ...paths.slice(1).map((place) => body(place).body),
      ])
    } finally {
      await service.stop('SIGTERM')
    }
  },
  90_000,
)
