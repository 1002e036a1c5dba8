import { expect, it } from 'vitest'

import { createSystemResolver } from '../../../src/fetcher/network/system-resolver.ts'

/** A resolver whose every look-up is answered by hand, by a clock that is moved by hand. */
function resolverByHand() {
  const asked: { host: string; answer: PromiseWithResolvers<readonly string[]> }[] = []
  let time = 0
  const resolve = createSystemResolver(
    (host) => {
      const answer = Promise.withResolvers<readonly string[]>()
      asked.push({ host, answer })
      return answer.promise
    },
    () => time,
  )
  return {
    resolve,
    hosts: () => asked.map(({ host }) => host),
    answer: (index: number) => asked[index]?.answer.resolve([`10.0.0.${index}`]),
    fail: (index: number) => asked[index]?.answer.reject(new Error('no answer')),
    advance: (ms: number) => void (time += ms),
  }
}

it('looks two names up at a time, and the next when one has ended, well or not', async () => {
  const { resolve, hosts, answer, fail } = resolverByHand()
  const [one, two, three, four] = ['one', 'two', 'three', 'four'].map(resolve)
  expect(hosts()).toEqual(['one', 'two'])
  answer(0)
  expect(await one).toEqual(['10.0.0.0'])
  fail(1)
  await expect(two).rejects.toThrow('no answer')
  await new Promise(setImmediate)
  expect(hosts()).toEqual(['one', 'two', 'three', 'four'])
  answer(2)
  answer(3)
  expect(await Promise.all([three, four])).toEqual([['10.0.0.2'], ['10.0.0.3']])
})

it('does not begin what nobody waits for any more', async () => {
  const { resolve, hosts, answer, advance } = resolverByHand()
  const [one, , three] = ['one', 'two', 'three'].map(resolve)
  advance(8_001)
  answer(0)
  expect(await one).toEqual(['10.0.0.0'])
  await expect(three).rejects.toMatchObject({ code: 'dns_failure' })
  expect(hosts()).toEqual(['one', 'two'])
})

it('asks the system', async () => {
  expect(await createSystemResolver()('localhost')).toContain('127.0.0.1')
})
