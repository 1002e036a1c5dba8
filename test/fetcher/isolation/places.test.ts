import { expect, it } from 'vitest'

import { createPlaces } from '../../../src/fetcher/isolation/places.ts'

const never = new AbortController().signal

it('gives places in the order in which they are asked for', async () => {
  const places = createPlaces(1)
  const order: string[] = []
  await places.take(never)
  const waiting = ['a', 'b', 'c'].map(async (name) => {
    await places.take(never)
    order.push(name)
    places.giveBack()
  })
  places.giveBack()
  await Promise.all(waiting)
  expect(order).toEqual(['a', 'b', 'c'])
})

it('loses no place when it comes in the same turn as an abort', async () => {
  const places = createPlaces(1)
  await places.take(never)
  const controller = new AbortController()
  const gone = places.take(controller.signal)
  controller.abort('gone')
  places.giveBack()
  await expect(gone).rejects.toBe('gone')
  await places.take(AbortSignal.timeout(5_000))
})

it('gives nothing to one who gave up before', async () => {
  const places = createPlaces(1)
  await places.take(never)
  await expect(places.take(AbortSignal.abort('gone'))).rejects.toBe('gone')
  const next = places.take(never)
  places.giveBack()
  await expect(next).resolves.toBeUndefined()
})
