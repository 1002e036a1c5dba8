import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ADDRESS_CLASSES, classifyAddress } from '../../../src/fetcher/network/address.ts'
import { addressCases } from '../../helpers/guard-cases.ts'

const cases = addressCases()

describe('the contract of guard-addresses.json', () => {
  it('has all of its cases', () => {
    expect(cases).toHaveLength(405)
  })

  it.each(cases)('$id: $input is $code ($why)', ({ input, expect: verdict, code }) => {
    const name = classifyAddress(input)
    expect(name === 'public' ? 'allow' : 'deny').toBe(verdict)
    expect(name).toBe(code)
  })
})

it('takes any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
      expect(classifyAddress(text) in ADDRESS_CLASSES).toBe(true)
    }),
  )
})

it('says the same of every spelling of an IPv6 address', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
      const full = groups.map((group) => group.toString(16).padStart(4, '0')).join(':')
      const short = new URL(`http://[${full}]/`).hostname.slice(1, -1)
      expect(classifyAddress(full.toUpperCase())).toBe(classifyAddress(short))
    }),
  )
})

it('takes no IPv4 address with a zone', () => {
  expect(classifyAddress('93.184.215.14%eth0')).toBe('invalid')
})
