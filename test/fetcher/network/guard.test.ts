import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ADDRESS_CLASSES } from '../../../src/fetcher/network/address.ts'
import { createGuard, type Guard } from '../../../src/fetcher/network/guard.ts'
import { createIsOwnAddress } from '../../../src/fetcher/network/own-addresses.ts'
import { resolveChecked } from '../../../src/fetcher/network/resolve.ts'
import { TargetError } from '../../../src/jobs/target-error.ts'
import { URL_FAULTS } from '../../../src/jobs/target-url.ts'
import { textOf, type UrlCase, urlCases } from '../../helpers/guard-cases.ts'

const PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443])
/** What the machine of the tests goes by is left out: it could be one of the addresses below. */
const isOwn = () => false
const strict = createGuard({ allow: [], ports: PORTS, isOwn })
const cases = urlCases()

describe('the contract of guard-urls.json', () => {
  it('has all of its cases', () => {
    expect(cases).toHaveLength(325)
  })

  it.each(cases)('$id: $code ($why)', async (one) => {
    const passed = await pass(strict, one)
    if (one.expect === 'allow') {
      expect(passed).not.toBeInstanceOf(TargetError)
      if (one.normalized !== undefined) expect(passed).toBe(one.normalized)
    } else {
      expect(passed).toBeInstanceOf(TargetError)
      expect(passed).toMatchObject(refusal(one.code))
    }
  })

  it.each(cases.filter((one) => one.resolves_to !== undefined && one.expect === 'deny'))(
    '$id: the refusal does not give away what the name resolved to',
    async (one) => {
      const { message, hint } = (await pass(strict, one)) as TargetError
      for (const address of one.resolves_to ?? []) expect(message + hint).not.toContain(address)
    },
  )
})

describe('ports', () => {
  const any = createGuard({ allow: [], ports: '*' })

  it.each(cases.filter(({ why }) => why.includes('bad-port list')))(
    '`*` does not mean those that browsers refuse: $input',
    (one) => {
      expect(codeOf(() => any.checkUrl(textOf(one)))).toBe('blocked_port')
    },
  )

  it('`*` means every other', () => {
    expect(any.checkUrl('http://example.com:2375/').port).toBe('2375')
  })

  it('a port that the operator lists passes, even one that browsers refuse', () => {
    expect(createGuard({ allow: [], ports: new Set([22]) }).checkUrl('http://example.com:22/').port).toBe('22')
  })
})

describe('allowed ranges', () => {
  const lax = createGuard({ allow: ['127.0.0.0/8', '10.0.0.0/8', '169.254.0.0/16', '::/0'], ports: PORTS, isOwn })

  it('let a literal address pass', () => {
    expect(lax.checkUrl('http://127.1/').hostname).toBe('127.0.0.1')
  })

  it('do not open other ranges', () => {
    expect(codeOf(() => lax.checkUrl('http://192.168.0.1/'))).toBe('blocked_address')
  })

  it('do not open metadata services, by address or by name', () => {
    for (const host of ['169.254.169.254', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', 'metadata.google.internal']) {
      expect(codeOf(() => lax.checkUrl(`http://${host}/`))).toBe('blocked_address')
    }
  })

  it('let a local name pass until it is known what it resolves to', async () => {
    for (const host of ['localhost', 'redis', 'db.internal']) {
      expect(codeOf(() => strict.checkUrl(`http://${host}/`))).toBe('blocked_address')
      expect(lax.checkUrl(`http://${host}/`).hostname).toBe(host)
      const to = (...addresses: string[]) => resolveChecked(host, () => Promise.resolve(addresses), lax)
      await expect(to('127.0.0.1', '10.0.0.1')).resolves.toHaveLength(2)
      await expect(to('192.168.0.1')).rejects.toMatchObject({ code: 'blocked_address' })
      await expect(to('127.0.0.1', '93.184.215.14')).rejects.toMatchObject({
        code: 'blocked_address',
        message: 'The host name is a local one, which is never public.',
      })
    }
  })

  it('do not close the public network', () => {
    expect(lax.checkUrl('http://93.184.215.14/').hostname).toBe('93.184.215.14')
    expect(() => lax.checkAddress('93.184.215.14', 'example.com')).not.toThrow()
  })

  it('must be ranges', () => {
    expect(() => createGuard({ allow: ['10.0.0.0'], ports: '*' })).toThrow('Not a range of addresses')
  })
})

describe('an address of this machine', () => {
  const own = ['93.184.215.14', '10.0.0.5', '2600:1f18::7']
  const addresses = createIsOwnAddress({ read: () => own })
  const guard = createGuard({
    allow: ['127.0.0.0/8', '::1/128', '10.0.0.0/8', '10.0.0.5/32', '0.0.0.0/8'],
    ports: PORTS,
    nat64: 'allow',
    isOwn: addresses,
  })

  it.each([
    'http://93.184.215.14/',
    'http://10.0.0.5/',
    'http://[2600:1f18::7]/',
    'http://[2600:1F18:0:0::0:7]/',
    'http://[64:ff9b::10.0.0.5]/',
    'http://0/',
  ])('is refused, public, allowed or not: %s', (url) => {
    expect(() => guard.checkUrl(url)).toThrow(
      expect.objectContaining({
        code: 'blocked_address',
        message: 'The host is an address of the machine of this service.',
        hint: expect.stringContaining('No setting opens'),
      }),
    )
  })

  it('is refused as what a name leads to, and is not named', () => {
    for (const address of own) {
      expect(() => guard.checkAddress(address, 'name.example.com')).toThrow(
        'The host leads to an address of the machine of this service.',
      )
    }
  })

  it('is told from others by both ends of a connection, too', () => {
    expect(() => guard.checkAddress('10.0.0.6', 'db.lan', '10.0.0.6')).toThrow('an address of the machine')
    expect(() => guard.checkAddress('10.0.0.6', 'db.lan', '10.0.0.5')).not.toThrow()
    expect(() => guard.checkAddress('127.0.0.1', 'localhost', '127.0.0.1')).not.toThrow()
    expect(() => guard.checkAddress('::1', 'localhost', '::1')).not.toThrow()
  })

  it('has a class of its own only where it would be fetched otherwise', () => {
    const closed = createGuard({ allow: [], ports: PORTS, isOwn: addresses })
    expect(() => closed.checkUrl('http://10.0.0.5/')).toThrow('The host is a private address.')
    expect(() => closed.checkUrl('http://93.184.215.14/')).toThrow('an address of the machine')
  })

  it('leaves its neighbours alone', () => {
    for (const host of ['10.0.0.4', '93.184.215.15', '[2600:1f18::8]', '127.0.0.1', '[::1]']) {
      expect(guard.checkUrl(`http://${host}/`).hostname).toBe(host)
    }
  })
})

describe('NAT64', () => {
  const open = createGuard({ allow: ['192.168.1.0/24'], ports: PORTS, nat64: 'allow', isOwn })

  it('is judged by the IPv4 address inside where it is allowed', () => {
    for (const inside of ['8.8.8.8', '192.168.1.7']) {
      expect(open.checkUrl(`http://[64:ff9b::${inside}]/`).hostname).toMatch(/^\[64:ff9b::/)
      expect(() => open.checkAddress(`64:ff9b::${inside}`, 'name.example.com')).not.toThrow()
    }
    expect(() => open.checkUrl('http://[64:ff9b::a00:1]/')).toThrow('The host is a private address.')
    expect(() => open.checkUrl('http://[64:ff9b::7f00:1]/')).toThrow('The host is a loopback address.')
    expect(() => open.checkUrl('http://[64:ff9b::a9fe:a9fe]/')).toThrow('The host is a metadata address')
    expect(() => open.checkAddress('64:ff9b::a9fe:a9fe', 'name.example.com')).toThrow('leads to a metadata address')
  })

  it('means the well-known prefix alone', () => {
    expect(() => open.checkUrl('http://[64:ff9b:1::808:808]/')).toThrow('The host is a NAT64 address.')
    expect(() => open.checkAddress('64:ff9b::808:808%eth0')).toThrow('The host is an address with a zone.')
  })

  it.each([['64:ff9b::/96'], ['::/0']])('is denied by default, whatever ranges are allowed: %s', (range) => {
    const closed = createGuard({ allow: [range], ports: PORTS, isOwn })
    expect(() => closed.checkUrl('http://[64:ff9b::808:808]/')).toThrow('The host is a NAT64 address.')
  })
})

describe('a denied IPv4 address', () => {
  const denied = fc
    .tuple(fc.constantFrom(0, 10, 127, 224, 240, 255), fc.nat(255), fc.nat(255), fc.nat(255))
    .map(([a, b, c, d]): Quad => [a, b, c, d])

  it('does not pass in any spelling', () => {
    fc.assert(
      fc.property(denied, fc.nat(SPELLINGS.length - 1), (quad, index) => {
        const host = SPELLINGS[index]?.(quad) ?? ''
        expect({ host, code: codeOf(() => strict.checkUrl(`http://${host}/`)) }).toEqual({
          host,
          code: 'blocked_address',
        })
      }),
      { numRuns: 2_000 },
    )
  })
})

type Quad = readonly [number, number, number, number]

const number = ([a, b, c, d]: Quad) => ((a * 256 + b) * 256 + c) * 256 + d
const hex = (value: number, width = 0) => value.toString(16).padStart(width, '0')
const octal = (value: number) => `0${value.toString(8)}`
const pair = (high: number, low: number) => hex(high * 256 + low)

const SPELLINGS: readonly ((quad: Quad) => string)[] = [
  (quad) => quad.join('.'),
  (quad) => `${quad.join('.')}.`,
  (quad) => String(number(quad)),
  (quad) => `0x${hex(number(quad))}`,
  (quad) => octal(number(quad)),
  (quad) => quad.map((part) => `0x${hex(part, 2)}`).join('.'),
  (quad) => quad.map(octal).join('.'),
  (quad) => quad.map((part) => `000${octal(part)}`).join('.'),
  ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  ([a, b, c, d]) => `${octal(a)}.0x${hex(b)}.${c}.${octal(d)}`,
  (quad) => quad.join('%2e'),
  (quad) => quad.join('。'),
  (quad) => quad.join('.').replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (quad) => `[::ffff:${quad.join('.')}]`,
  (quad) => `[::${quad.join('.')}]`,
  ([a, b, c, d]) => `[0:0:0:0:0:FFFF:${pair(a, b)}:${pair(c, d)}]`,
  ([a, b, c, d]) => `[64:ff9b::${pair(a, b)}:${pair(c, d)}]`,
  ([a, b, c, d]) => `[2002:${pair(a, b)}:${pair(c, d)}::1]`,
  ([a, b, c, d]) => `[2600:1f18::5efe:${pair(a, b)}:${pair(c, d)}]`,
]

/** What comes of a case: the URL that would be requested, or the refusal. */
async function pass(guard: Guard, one: UrlCase): Promise<string | TargetError> {
  try {
    const url = guard.checkUrl(textOf(one), one.base === undefined ? undefined : new URL(one.base))
    const addresses = one.resolves_to
    if (addresses !== undefined) await resolveChecked(url.hostname, () => Promise.resolve(addresses), guard)
    return url.href.replace(/#.*/, '')
  } catch (error) {
    if (error instanceof TargetError) return error
    throw error
  }
}

function refusal(code: string): { code: string; message: unknown } {
  if (code in URL_FAULTS) return { code: 'invalid_url', message: URL_FAULTS[code as keyof typeof URL_FAULTS] }
  if (code === 'port') return { code: 'blocked_port', message: expect.stringMatching(/^Port \d+ is not/) }
  if (code === 'dns-no-address') return { code: 'dns_not_found', message: expect.stringContaining('no address') }
  if (code === 'local-name') return { code: 'blocked_address', message: expect.stringContaining('local one') }
  const phrase = code === 'metadata' ? 'metadata' : ` ${ADDRESS_CLASSES[code as keyof typeof ADDRESS_CLASSES]}.`
  return { code: 'blocked_address', message: expect.stringContaining(phrase) }
}

function codeOf(check: () => unknown): string {
  try {
    check()
    return 'passed'
  } catch (error) {
    return error instanceof TargetError ? error.code : String(error)
  }
}
