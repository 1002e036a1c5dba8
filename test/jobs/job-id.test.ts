import { expect, it } from 'vitest'

import { createJobIds } from '../../src/jobs/job-id.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('job ids are UUIDs of version 7 in the order of their creation, however many are made in a millisecond', () => {
  const nextId = createJobIds()
  const ids = Array.from({ length: 20_000 }, nextId)
  expect(ids.every((id) => UUID_V7.test(id))).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
})
