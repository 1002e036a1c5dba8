import { describe, expect, it } from 'vitest'

import { createIsPublicUrl } from '../../../src/fetcher/network/public-url.ts'
import { addressCases, textOf, urlCases } from '../../helpers/guard-cases.ts'

const to =
  (...addresses: string[]) =>
  () =>
    Promise.resolve(addresses)

const failing = (code: string) => () => Promise.reject(Object.assign(new Error('No answer.'), { code }))

/** Whether a case is refused for its syntax or its host, not for its port or for want of an address. */
const isAboutHost = (code: string) => !['ok', 'port', 'dns-no-address'].includes(code)

describe('a URL is public', () => {
  it.each(addressCases())(
    'or not, as the address is that its name has: $input',
    async ({ input, expect: expected }) => {
      expect(await createIsPublicUrl(to('93.184.216.34', input))('http://name.org/')).toBe(expected === 'allow')
    },
  )

  it.each(urlCases().filter(({ code, base }) => isAboutHost(code) && base === undefined))(
    'in none of the cases that the guard refuses: $id',
    async (one) => {
      const isPublic = createIsPublicUrl(to(...(one.resolves_to ?? ['93.184.216.34'])))
      expect(await isPublic(textOf(one))).toBe(false)
    },
  )

  it.each(['ENOTFOUND', 'ENODATA'])('if its name is lost: %s', async (code) => {
    const isPublic = createIsPublicUrl(failing(code))
    expect(await isPublic('https://lost.org/')).toBe(true)
    expect(await isPublic('https://lost.internal/')).toBe(false)
    expect(await isPublic('https://lost/')).toBe(false)
  })

  it.each(['EAI_AGAIN', 'ESERVFAIL', 'ETIMEOUT'])('or not, if the name server does not say: %s', async (code) => {
    expect(await createIsPublicUrl(failing(code))('https://jira.corp.example.com/')).toBe(false)
  })

  it('if its name has no address', async () => {
    expect(await createIsPublicUrl(to())('https://lost.org/')).toBe(true)
  })

  it('or not; a resolver that breaks does not say', async () => {
    await expect(createIsPublicUrl(failing('EBROKEN'))('https://lost.org/')).rejects.toThrow('No answer.')
  })

  it('behind NAT64 only where that is followed', async () => {
    for (const [inside, expected] of [
      ['8.8.8.8', true],
      ['10.0.0.1', false],
    ] as const) {
      const resolve = to('93.184.216.34', `64:ff9b::${inside}`)
      expect(await createIsPublicUrl(resolve, 'allow')('http://name.org/')).toBe(expected)
      expect(await createIsPublicUrl(resolve)('http://name.org/')).toBe(false)
    }
    expect(await createIsPublicUrl(to(), 'allow')('http://[64:ff9b::808:808]/')).toBe(false)
  })
})
