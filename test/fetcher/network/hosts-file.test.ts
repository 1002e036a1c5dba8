import { rmSync, utimesSync, writeFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { createHostsFile } from '../../../src/fetcher/network/hosts-file.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const BYTES_MAX = 256 * 1024

/** A hosts file, and a look at it by a clock that is moved by hand. */
function hostsFile(text: string) {
  const temp = tempFolder()
  const file = temp.file('hosts')
  let time = 0
  const write = (changed: string, seconds: number) => {
    writeFileSync(file, changed)
    utimesSync(file, seconds, seconds)
  }
  write(text, 1)
  return {
    write,
    remove: () => rmSync(file),
    advance: (ms: number) => void (time += ms),
    addresses: createHostsFile(file, () => time),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  }
}

it('gives every address of a name, those of IPv4 first, whatever the lines look like', () => {
  using hosts = hostsFile(
    [
      '# 10.0.0.1 comment.test',
      '10.0.0.2 one.test two.test # three.test',
      '2001:DB8::1\tTWO.test',
      '  10.0.0.3   two.test. two.test  ',
      '10.0.0.2 two.test',
      '',
      '10.0.0 four.test',
      'fe80::1%eth0 four.test',
      'four.test 10.0.0.4',
      '10.0.0.9\r',
      '10.0.0.5 last.test',
    ].join('\n'),
  )
  const addresses = (host: string) => [...hosts.addresses(host)]
  expect(addresses('one.test')).toEqual(['10.0.0.2'])
  expect(addresses('two.test')).toEqual(['10.0.0.2', '10.0.0.3', '2001:db8::1'])
  expect(addresses('two.test.')).toEqual(['10.0.0.2', '10.0.0.3', '2001:db8::1'])
  expect(addresses('last.test')).toEqual(['10.0.0.5'])
  for (const host of ['comment.test', 'three.test', 'four.test', 'five.test', 'constructor', '']) {
    expect({ host, addresses: addresses(host) }).toEqual({ host, addresses: [] })
  }
})

it('is read again once it has changed, and looked at every five seconds at most', () => {
  using hosts = hostsFile('10.0.0.1 name.test\n')
  expect(hosts.addresses('name.test')).toEqual(['10.0.0.1'])
  hosts.write('10.0.0.2 name.test\n', 2)
  hosts.advance(4_999)
  expect(hosts.addresses('name.test')).toEqual(['10.0.0.1'])
  hosts.advance(1)
  expect(hosts.addresses('name.test')).toEqual(['10.0.0.2'])
  hosts.remove()
  hosts.advance(5_000)
  expect(hosts.addresses('name.test')).toEqual([])
  hosts.write('10.0.0.2 name.test\n', 2)
  hosts.advance(5_000)
  expect(hosts.addresses('name.test')).toEqual(['10.0.0.2'])
})

it('has no names where there is none', () => {
  using temp = tempFolder()
  expect(createHostsFile(temp.file('none'))('name.test')).toEqual([])
  expect(createHostsFile(temp.file(''))('name.test')).toEqual([])
})

it('counts up to 256 KiB, and to the end of a line', () => {
  const line = `10.0.0.1 ${'x'.repeat(54)}\n`
  const full = line.repeat(BYTES_MAX / line.length - 1)
  using hosts = hostsFile(`${full}10.0.0.2 ${'y'.repeat(54)}\n10.0.0.3 beyond.test\n`)
  expect(hosts.addresses('y'.repeat(54))).toEqual(['10.0.0.2'])
  expect(hosts.addresses('beyond.test')).toEqual([])
  using cut = hostsFile(`${full}10.0.0.2 ${'y'.repeat(60)}\n`)
  expect(cut.addresses('y'.repeat(55))).toEqual([])
  expect(cut.addresses('x'.repeat(54))).toEqual(['10.0.0.1'])
})
