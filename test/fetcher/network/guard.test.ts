import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ADDRESS_CLASSES } from '../../../src/fetcher/network/address.ts'
import { createGuard, type Guard } from '../../../src/fetcher/network/guard.ts'
import { resolveChecked } from '../../../src/fetcher/network/resolve.ts'
import { TargetError } from '../../../src/jobs/target-error.ts'
import { URL_FAULTS } from '../../../src/jobs/target-url.ts'
import { textOf, type UrlCase, urlCases } from '../../helpers/guard-cases.ts'

const PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443])
const strict = createGuard({ allow: [], ports: PORTS })
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
  const lax = createGuard({ allow: ['127.0.0.0/8', '10.0.0.0/8', '169.254.0.0/16', '::/0'], ports: PORTS })

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
