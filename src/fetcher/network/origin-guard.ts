import { TargetError } from '../../jobs/target-error.ts'
import { parseTargetUrl, URL_FAULTS } from '../../jobs/target-url.ts'
import { classifyAddress } from './address.ts'
import { createAllowList } from './allow-list.ts'
import { bareHost, type Guard, refusal } from './guard.ts'
import { isMetadataName } from './host-names.ts'
import { behindNat64 } from './nat64.ts'

/**
 * A guard for a service that the operator has named, which may well run on this machine: it lets exactly that scheme,
 * host and port pass, at any address, its own included, but those of metadata services and those that hide another.
 * @param origin as `URL` gives it.
 */
export function createOriginGuard(origin: string): Guard {
  const reachable = createAllowList(['0.0.0.0/0', '::/0'])
  return {
    checkUrl(raw, base) {
      const parsed = parseTargetUrl(raw, base)
      if ('fault' in parsed) throw new TargetError('invalid_url', URL_FAULTS[parsed.fault])
      if (parsed.url.origin !== origin || isMetadataName(bareHost(parsed.url.hostname))) {
        throw new TargetError('blocked_address', 'The URL does not lead to the service that is configured.')
      }
      return parsed.url
    },
    checkAddress(address, host = address) {
      const reached = behindNat64(address)
      if (!reachable.covers(reached)) throw refusal(classifyAddress(reached), host === address)
    },
  }
}
