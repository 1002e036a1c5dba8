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
  const { clock, take, advance } = setUp()
  const end = await take('first')
  const deadline = clock.now() + 5_000
  const late = take('late', 'a.example', () => deadline - clock.now())
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

it('leaves a host alone for everyone while it is paused, and no longer than 20 s', async () => {
  const { turns, log, take, advance } = setUp()
  turns.pause('a.example', 3_600_000, 429)
  void take('first')
  await advance(19_999)
  expect(log).toEqual([])
  await advance(1)
  expect(log).toEqual(['first'])
})

it('fails at once, with the status of the host, what cannot wait as long as the pause', async () => {
  const { turns, take, advance } = setUp()
  turns.pause('a.example', 15_000, 503)
  await expect(take('hasty', 'a.example', () => 10_000)).rejects.toMatchObject({
    code: 'http_503',
    message: 'The host answered 503 Service Unavailable a moment ago, and is left alone for another 15 s.',
  })
  await advance(8_000)
  const patient = take('patient', 'a.example', () => 10_000)
  await advance(7_000)
  await patient
})

it('fails so, too, what waits behind others: before the pause, and once it comes', async () => {
  const { turns, log, take, advance } = setUp()
  const end = await take('first')
  const early = take('early', 'a.example', () => 10_000)
  void take('patient')
  turns.pause('a.example', 15_000, 503)
  await expect(early).rejects.toMatchObject({ code: 'http_503' })
  await expect(take('late', 'a.example', () => 10_000)).rejects.toMatchObject({ code: 'http_503' })
  end()
  await advance(15_000)
  expect(log).toEqual(['first', 'not early', 'not late', 'patient'])
})

it('fails at once what has less time than the gap', async () => {
  const { take } = setUp()
  const end = await take('first')
  end()
  await expect(take('hasty', 'a.example', () => 900)).rejects.toMatchObject({ code: 'timeout' })
})

it('goes on waiting if there is more time than there was', async () => {
  const { log, clock, take, advance } = setUp()
  const end = await take('first')
  let deadline = clock.now() + 2_000
  const shared = take('shared', 'a.example', () => deadline - clock.now())
  deadline += 3_000
  await advance(2_000)
  expect(log).toEqual(['first'])
  await advance(3_000)
  await expect(shared).rejects.toMatchObject({ code: 'timeout' })
  end()
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

it('waits 20 s at most after the clock was set back', async () => {
  const { clock, log, take, advance } = setUp()
  const end = await take('first')
  end()
  clock.advance(-86_400_000)
  void take('second')
  await advance(0)
  await advance(20_000)
  expect(log).toEqual(['first', 'second'])
})
