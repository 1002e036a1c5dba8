import { isIP } from 'node:net'

import { parseTargetUrl } from '../../jobs/target-url.ts'
import { classifyAddress } from './address.ts'
import { toTargetError } from './errors.ts'
import { bareHost } from './guard.ts'
import { isLocalName, isMetadataName } from './host-names.ts'
import { behindNat64, type Nat64 } from './nat64.ts'
import { type Resolve, systemResolve } from './resolve.ts'

/** Whether a URL may be told to a third party: whether all the world could ask for it as well. */
export type IsPublicUrl = (url: string) => Promise<boolean>

/**
 * A URL is public if its host is a public address, or a name outside the local ones of which every address is public.
 * A name that does not exist counts as public: that is how a site ends. One that the name server gives no answer about
 * does not: it may be one of the operator's own. What the operator allows to be fetched changes nothing here. A URL with
 * credentials is never public.
 * @param nat64 `'allow'`: what a name server has turned into an address of NAT64 counts as the IPv4 address inside it.
 */
export function createIsPublicUrl(resolve: Resolve = systemResolve, nat64: Nat64 = 'deny'): IsPublicUrl {
  const leadsOut = (address: string) => isPublicAddress(nat64 === 'allow' ? behindNat64(address) : address)
  return async (raw) => {
    const parsed = parseTargetUrl(raw)
    if ('fault' in parsed) return false
    const host = bareHost(parsed.url.hostname)
    if (isIP(host) !== 0) return isPublicAddress(host)
    if (isLocalName(host) || isMetadataName(host)) return false
    return (await addressesOf(host, resolve))?.every(leadsOut) ?? false
  }
}

const isPublicAddress = (address: string) => classifyAddress(address) === 'public'

/** None for a name that does not exist; undefined if that is not known. */
async function addressesOf(host: string, resolve: Resolve): Promise<readonly string[] | undefined> {
  try {
    return await resolve(host)
  } catch (error) {
    const code = toTargetError(error)?.code
    if (code === 'dns_not_found') return []
    if (code === 'dns_failure') return undefined
    throw error
  }
}
