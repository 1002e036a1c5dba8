import { expect, it } from 'vitest'

import { createPolicyCache, type Policy } from '../../../src/fetcher/robots/policy-cache.ts'
import { fakeClock } from '../../helpers/fake-clock.ts'

const MIB = 1024 * 1024
const file = (fileBytes: number): Policy => ({ rules: [], fileBytes, keepMs: 1_000 })
const origin = (number: number) => `https://${number}.example`

it('500 policies are kept, and the one that was not asked for the longest is forgotten', () => {
  const cache = createPolicyCache(fakeClock())
  for (let number = 0; number < 500; number += 1) cache.set(origin(number), file(1_000))
  cache.get(origin(0))
  cache.set(origin(500), { lack: 'The server answered 503 Service Unavailable.', keepMs: 1_000 })
  expect(cache.get(origin(0))).toBeDefined()
  expect(cache.get(origin(1))).toBeUndefined()
  expect(cache.get(origin(2))).toBeDefined()
  expect(cache.get(origin(500))).toBeDefined()
})

it('files of 4 MiB in all are kept', () => {
  const cache = createPolicyCache(fakeClock())
  for (const number of [0, 1, 2, 3]) cache.set(origin(number), file(MIB))
  cache.set(origin(3), file(MIB)) // In place of the other.
  expect(cache.get(origin(0))).toBeDefined()
  cache.set(origin(4), file(2 * MIB))
  expect([0, 1, 2, 3, 4].filter((number) => cache.get(origin(number)) !== undefined)).toEqual([0, 3, 4])
})

it('nothing that seems to be from later, since the clock was set back, is used', () => {
  let now = 1_000_000
  const cache = createPolicyCache({ now: () => now })
  cache.set(origin(0), file(1))
  now -= 1
  expect(cache.get(origin(0))).toBeUndefined()
})
