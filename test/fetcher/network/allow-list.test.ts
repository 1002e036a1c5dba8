import { describe, expect, it } from 'vitest'

import { createAllowList, parseCidrs } from '../../../src/fetcher/network/allow-list.ts'

const EVERYTHING = ['0.0.0.0/0', '::/0']

describe('an allow list', () => {
  it.each([
    ['10.1.0.0/16', '10.1.255.255', true],
    ['10.1.0.0/16', '10.2.0.0', false],
    ['10.1.2.3/16', '10.1.0.0', true],
    ['192.168.1.7/32', '192.168.1.7', true],
    ['192.168.1.7/32', '192.168.1.8', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['0.0.0.0/0', '127.0.0.1', true],
    ['0.0.0.0/0', '::1', false],
    ['::/0', '127.0.0.1', false],
    ['::/0', '::1', true],
  ])('%s covers %s: %s', (range, address, covered) => {
    expect(createAllowList([range]).covers(address)).toBe(covered)
  })

  it.each([
    '169.254.169.254',
    '168.63.129.16',
    'fd00:ec2::254',
    'fe80::a9fe:a9fe%2',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '::ffff:0:a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '64:ff9b::8.8.8.8',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1:a9fe:a9:fe00::',
    '2002:a9fe:a9fe::1',
    '2600:1f18::5efe:a9fe:a9fe',
    'fe80::1%eth0',
    'localhost',
    '127.1',
  ])('never covers %s, however wide it is', (address) => {
    expect(createAllowList(EVERYTHING).covers(address)).toBe(false)
  })
})

it.each([
  '10.0.0.0',
  '10.0.0.0/33',
  '::/129',
  '10.0.0/8',
  '10.0.0.0/8/8',
  '10.0.0.0/',
  '10.0.0.0/-1',
  'localhost/8',
  '',
])('names an entry that is no range: %j', (entry) => {
  expect(() => parseCidrs(['10.0.0.0/8', entry])).toThrow(`Not a range of addresses: ${JSON.stringify(entry)}; write`)
})
