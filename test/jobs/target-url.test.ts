import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { parseTargetUrl, URL_FAULTS } from '../../src/jobs/target-url.ts'
import { textOf, urlCases } from '../helpers/guard-cases.ts'

const cases = urlCases()
/** The other cases are faults of the host or the port, which the guard finds. */
const isSyntax = (code: string) => code === 'ok' || code in URL_FAULTS

describe('the contract of guard-urls.json', () => {
  it('has all of its cases', () => {
    expect(cases).toHaveLength(325)
  })

  it.each(cases.filter(({ code }) => isSyntax(code)))('$id: $why', (one) => {
    const parsed = parseTargetUrl(textOf(one), one.base === undefined ? undefined : new URL(one.base))
    if ('fault' in parsed) expect(parsed.fault).toBe(one.code)
    else expect(one.code).toBe('ok')
  })

  it.each(cases.filter(({ code }) => !isSyntax(code)))('$id is left to the guard', (one) => {
    const parsed = parseTargetUrl(textOf(one), one.base === undefined ? undefined : new URL(one.base))
    expect(parsed).toHaveProperty('url')
  })
})

describe('what the contract leaves open', () => {
  it('keeps the fragment', () => {
    expect(hrefOf('https://example.com/a#section')).toBe('https://example.com/a#section')
  })

  it('counts the fragment, so that its own output passes again', () => {
    expect(parseTargetUrl(`https://example.com/#${'ä'.repeat(2_000)}`)).toEqual({ fault: 'url-too-long' })
  })

  it('refuses half a surrogate pair, which no database takes', () => {
    expect(parseTargetUrl('https://example.com/\ud800')).toEqual({ fault: 'invalid-url' })
  })

  it('takes names with a hyphen or an underscore where real ones have it', () => {
    expect(hrefOf('https://some-blog-.example.com/')).toBe('https://some-blog-.example.com/')
    expect(parseTargetUrl('https://-some.example.com/')).toEqual({ fault: 'invalid-host' })
  })

  it('keeps the order of the query as it was given', () => {
    expect(hrefOf('https://example.com/?b=1&a=2&b=0')).toBe('https://example.com/?b=1&a=2&b=0')
  })

  it('takes one slash or none after the scheme for a fault in a redirect too', () => {
    const base = new URL('https://example.com/')
    expect(parseTargetUrl('https:other.example', base)).toEqual({ fault: 'invalid-url' })
    expect(parseTargetUrl('https:/other.example', base)).toEqual({ fault: 'invalid-url' })
  })

  it('takes the control characters of windows-1252 in a redirect', () => {
    const parsed = parseTargetUrl('/it\u0092s', new URL('https://example.com/'))
    expect('url' in parsed && parsed.url.href).toBe('https://example.com/it%C2%92s')
  })

  it('has a sentence for every fault', () => {
    for (const sentence of Object.values(URL_FAULTS)) expect(sentence).toMatch(/^[A-Z].*\.$/)
  })
})

describe('whatever it is given', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc
      .tuple(fc.constantFrom('http://', 'HTTPS://', '//', '', 'http:/', ' https://'), fc.string({ unit: 'grapheme' }))
      .map((parts) => parts.join('')),
  )

  it('never throws', () => {
    fc.assert(
      fc.property(anyText, fc.option(fc.webUrl(), { nil: undefined }), (raw, base) => {
        const parsed = parseTargetUrl(raw, base === undefined ? undefined : new URL(base))
        expect('url' in parsed || parsed.fault in URL_FAULTS).toBe(true)
      }),
    )
  })

  it('gives the same URL for its own output', () => {
    fc.assert(
      fc.property(anyText, (raw) => {
        const parsed = parseTargetUrl(raw)
        fc.pre('url' in parsed)
        expect(hrefOf(parsed.url.href)).toBe(parsed.url.href)
      }),
    )
  })
})

function hrefOf(raw: string): string | undefined {
  const parsed = parseTargetUrl(raw)
  return 'url' in parsed ? parsed.url.href : undefined
}
