import fc from 'fast-check'
import { expect, it } from 'vitest'

import { createRandom } from '../helpers/random.ts'
import type { FileCall } from './call.ts'
import { createDisk, FATES, type Files, KEPT } from './disk.ts'

const create = (name: string): FileCall => ({ kind: 'create', name })
const remove = (name: string): FileCall => ({ kind: 'remove', name })
const write = (text: string, offset = 0): FileCall => ({ kind: 'write', name: 'a', offset, data: Buffer.from(text) })
const truncate = (length: number): FileCall => ({ kind: 'truncate', name: 'a', length })
const sync = (name: string): FileCall => ({ kind: 'sync', name })

const diskAfter = (...calls: FileCall[]) => {
  const disk = createDisk()
  for (const call of calls) disk.apply(call)
  return disk
}
const dropped = (...calls: FileCall[]) => texts(diskAfter(...calls).afterPowerLoss(FATES.dropped()))
const texts = (files: Files) => Object.fromEntries([...files].map(([name, content]) => [name, content.toString()]))

const anyChange = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    name: fc.constant('a'),
    offset: fc.nat(3_000),
    data: anyBytes(2_000),
  }),
  fc.record({ kind: fc.constant('truncate' as const), name: fc.constant('a'), length: fc.nat(3_000) }),
)
function anyBytes(maxLength: number) {
  return fc.uint8Array({ minLength: 1, maxLength }).map((bytes) => Buffer.from(bytes))
}

it('keeps what was synced in every power loss, and else what a file would hold in the process', () => {
  fc.assert(
    fc.property(fc.array(anyChange), fc.integer(), fc.constantFrom(...Object.values(FATES)), (changes, seed, fate) => {
      const disk = diskAfter(create('a'), sync(''), ...changes)
      const inProcess = disk.afterPowerLoss(KEPT)
      disk.apply(sync('a'))
      expect(disk.afterPowerLoss(fate(createRandom(seed)))).toEqual(inProcess)
    }),
  )
})

it('loses what was not synced', () => {
  expect(dropped(create('a'), sync(''), write('old'), sync('a'), write('new'), truncate(1))).toEqual({ a: 'old' })
})

it('fills a gap with zeros, also where the file was longer before', () => {
  expect(dropped(create('a'), sync(''), write('longer'), truncate(1), write('z', 3), sync('a'))).toEqual({
    a: 'l\0\0z',
  })
})

it('knows a new file by its name only once the folder is synced', () => {
  expect(dropped(create('a'), write('text'), sync('a'))).toEqual({})
  expect(dropped(create('a'), write('text'), sync('a'), sync(''))).toEqual({ a: 'text' })
})

it('brings back a removed file until the folder is synced', () => {
  const calls = [create('a'), sync(''), write('text'), sync('a'), remove('a')]
  expect(dropped(...calls)).toEqual({ a: 'text' })
  expect(dropped(...calls, sync(''))).toEqual({})
})

it('keeps or loses whole sectors', () => {
  fc.assert(
    fc.property(fc.nat(600), fc.integer(), (offset, seed) => {
      const disk = diskAfter(create('a'), sync(''), truncate(4_096), sync('a'), write('x'.repeat(2_000), offset))
      const content =
        disk
          .afterPowerLoss(FATES['some sectors kept'](createRandom(seed)))
          .get('a')
          ?.toString() ?? ''
      for (let start = 0; start < 4_096; start += 512) {
        const written = content.slice(Math.max(start, offset), Math.min(start + 512, offset + 2_000))
        expect(new Set(written).size).toBeLessThanOrEqual(1)
      }
    }),
  )
})
