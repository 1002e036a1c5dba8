import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { TARGET_ERRORS } from '../../src/jobs/target-error.ts'

it('docs/errors.md has a row with the hint for every code of a target, and no other', () => {
  const rows = readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `([a-z_]+(?:\d{3})?)` \| .+ \| (.+) \|$/gm)
  const documented = Object.fromEntries([...rows].map(([, code, hint]) => [code, hint]))
  const hints = Object.fromEntries(Object.entries(TARGET_ERRORS).map(([code, { hint }]) => [code, hint]))
  expect(documented).toEqual(hints)
})
