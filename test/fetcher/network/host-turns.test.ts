import { setImmediate } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { createHostTurns } from '../../../src/fetcher/network/host-turns.ts'
import { fakeClock } from '../../helpers/fake-clock.ts'

function setUp(gapMs = 1_000) {
  const clock = fakeClock()
  const turns = createHostTurns({ clock, gapMs })
  const log: string[] = []
  /** Asks for a turn and logs when it is granted. */
  const take = (
    name: string,
    host = 'a.example',
    timeLeft = () => 3_600_000,
    signal = new AbortController().signal,
  ) => {
    const taken = turns.take(host, { signal, timeLeft })
    taken.then(
      () => log.push(name),
      () => log.push(`not ${name}`),
    )
    return taken
  }
  const advance = async (ms: number) => {
    clock.advance(ms)
    await setImmediate()
  }
  return { clock, turns, log, take, advance }
}

it('lets one request at a time go to a host, in the order asked, with the gap after each', async () => {
  const { log, take, advance } = setUp()
  const end = await take('first')
  const second = take('second')
  void take('third')
  await advance(900)
  expect(log).toEqual(['first'])
  end()
  await advance(999)
  expect(log).toEqual(['first'])
  await advance(1)
  expect(log).toEqual(['first', 'second'])
  ;(await second)()
  await advance(1_000)
  expect(log).toEqual(['first', 'second', 'third'])
})

it('keeps hosts apart, but not the same one with a dot at its end', async () => {
  const { log, take, advance } = setUp()
  await take('a')
  await take('b', 'b.example')
  void take('a again', 'a.example.')
  await advance(0)
  expect(log).toEqual(['a', 'b'])
})

it('does not keep others waiting for a request that hangs', async () => {
  const { log, take, advance } = setUp()
  const end = await take('hangs')
  void take('next')
  await advance(9_999)
  expect(log).toEqual(['hangs'])
  await advance(1)
  await advance(1_000)
  expect(log).toEqual(['hangs', 'next'])
  end() // Late: the turn is another's now, and only the gap counts from here.
  void take('last')
  await advance(5_000)
  expect(log).toEqual(['hangs', 'next'])
})

it('keeps the gap after a request that took longer than its turn', async () => {
  const { log, take, advance } = setUp()
  const end = await take('hangs')
  await advance(15_000)
  end()
  void take('next')
  await advance(999)
  expect(log).toEqual(['hangs'])
  await advance(1)
  expect(log).toEqual(['hangs', 'next'])
})

it('fails what has no time left while others are asked for, and says so', async () => {
  const { take, advance } = setUp()
  const end = await take('first')
  const late = take('late', 'a.example', () => 5_000)
  await advance(5_000)
  await expect(late).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('Other requests'),
  })
  end()
  const next = take('next')
  await advance(1_000)
  await next
})

it('passes over one that no longer waits, before its turn and in its gap', async () => {
  const { log, take, advance } = setUp()
  const end = await take('first')
  const leaving = new AbortController()
  const left = take('second', undefined, undefined, leaving.signal)
  void take('third')
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  end()
  await advance(500)
  const late = new AbortController()
  const cancelled = take('fourth', undefined, undefined, late.signal)
  await advance(500)
  expect(log).toEqual(['first', 'not second', 'third'])
  late.abort(new Error('gone'))
  await expect(cancelled).rejects.toThrow('gone')
})

it('leaves a host alone for everyone while it is paused, and no longer than a minute', async () => {
  const { turns, log, take, advance } = setUp()
  turns.pause('a.example', 3_600_000, 429)
  void take('first')
  await advance(59_999)
  expect(log).toEqual([])
  await advance(1)
  expect(log).toEqual(['first'])
})

it('fails at once, with the status of the host, what cannot wait as long as the pause', async () => {
  const { turns, take, advance } = setUp()
  turns.pause('a.example', 30_000, 503)
  await expect(take('hasty', 'a.example', () => 20_000)).rejects.toMatchObject({
    code: 'http_503',
    message: 'The host answered 503 Service Unavailable a moment ago, and is left alone for another 30 s.',
  })
  await advance(15_000)
  const patient = take('patient', 'a.example', () => 20_000)
  await advance(15_000)
  await patient
})

it('a pause that comes while one waits for the gap is kept, too', async () => {
  const { turns, log, take, advance } = setUp()
  const end = await take('first')
  end()
  void take('second')
  turns.pause('a.example', 5_000, 429)
  await advance(1_000)
  expect(log).toEqual(['first'])
  await advance(4_000)
  expect(log).toEqual(['first', 'second'])
})

it('waits a minute at most after the clock was set back', async () => {
  const { clock, log, take, advance } = setUp()
  const end = await take('first')
  end()
  clock.advance(-86_400_000)
  void take('second')
  await advance(0)
  await advance(60_000)
  expect(log).toEqual(['first', 'second'])
})
