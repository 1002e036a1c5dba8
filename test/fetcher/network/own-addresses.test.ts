import { networkInterfaces } from 'node:os'

import { expect, it } from 'vitest'

import { createIsOwnAddress } from '../../../src/fetcher/network/own-addresses.ts'

it('are those of the interfaces but the loopback network, in any spelling', () => {
  const isOwn = createIsOwnAddress({ read: () => ['127.0.0.1', '::1', '10.0.0.5', '2600:1F18::7', 'fe80::1'] })
  for (const address of ['10.0.0.5', '2600:1f18:0:0:0:0:0:7', '2600:1f18::7', 'fe80::1', '0.0.0.0', '::']) {
    expect({ address, isOwn: isOwn(address) }).toEqual({ address, isOwn: true })
  }
  for (const address of ['127.0.0.1', '127.0.0.2', '::1', '10.0.0.6', '2600:1f18::8', '10.0.0.05', 'name', '']) {
    expect({ address, isOwn: isOwn(address) }).toEqual({ address, isOwn: false })
  }
})

it('are read anew after a second, and not for each address of an answer', () => {
  let time = 5_000
  let reads = 0
  const own = ['10.0.0.5']
  const read = () => {
    reads += 1
    return own
  }
  const isOwn = createIsOwnAddress({ read, now: () => time })
  for (let i = 0; i < 1_000; i += 1) isOwn(`10.1.0.${i % 256}`)
  expect(reads).toBe(1)
  own[0] = '10.0.0.6'
  time += 999
  expect([isOwn('10.0.0.5'), isOwn('10.0.0.6')]).toEqual([true, false])
  time += 1
  expect([isOwn('10.0.0.5'), isOwn('10.0.0.6')]).toEqual([false, true])
  expect(reads).toBe(2)
})

it('are those of this machine by default', () => {
  const isOwn = createIsOwnAddress()
  for (const { address, internal } of Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)) {
    if (!internal) expect({ address, isOwn: isOwn(address) }).toEqual({ address, isOwn: true })
  }
  expect([isOwn('127.0.0.1'), isOwn('::1'), isOwn('0.0.0.0')]).toEqual([false, false, true])
})
