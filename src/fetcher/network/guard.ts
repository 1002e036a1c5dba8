import { isIP } from 'node:net'

import { TargetError } from '../../jobs/target-error.ts'
import { parseTargetUrl, URL_FAULTS } from '../../jobs/target-url.ts'
import { ADDRESS_CLASSES, type AddressClass, classifyAddress } from './address.ts'
import { createAllowList } from './allow-list.ts'
import { isLocalName, isMetadataName } from './host-names.ts'
import { behindNat64, type Nat64 } from './nat64.ts'
import { createIsOwnAddress } from './own-addresses.ts'
import { BAD_PORTS, portOf } from './ports.ts'

const OWN_HINT = 'No setting opens the addresses of the machine that the service runs on, but for the loopback network.'

export interface GuardOptions {
  /** CIDR ranges allowed although they are not public. Metadata addresses and those of this machine stay denied. */
  readonly allow: readonly string[]
  /** `'*'`: all but those that browsers refuse. */
  readonly ports: ReadonlySet<number> | '*'
  /** `'allow'`: an address of NAT64 is judged as the IPv4 address inside it. Default `'deny'`. */
  readonly nat64?: Nat64
  /** Tells the addresses of this machine; for tests. */
  readonly isOwn?: (address: string) => boolean
}

/** Decides what may be connected to. A refusal names the class of an address, never one that a name resolved to. */
export interface Guard {
  /**
   * Checks a URL before anything is done with it: its syntax, its host as far as that can be told without a look-up,
   * and its port.
   * @param base the URL that redirects to `raw`, which may then be relative.
   * @throws {TargetError} `invalid_url`, `blocked_address`, `blocked_port`
   */
  checkUrl(raw: string, base?: URL): URL
  /**
   * Checks an address before, and once more after, a connection goes to it.
   * @param host the name that resolved to it, if one did.
   * @param local our end of the connection, once there is one. If both ends are the same, this is a way to this machine.
   * @throws {TargetError} `blocked_address`
   */
  checkAddress(address: string, host?: string, local?: string): void
}

/** @throws {Error} for an entry of `allow` that is not a range. */
export function createGuard({ allow, ports, nat64 = 'deny', isOwn = createIsOwnAddress() }: GuardOptions): Guard {
  const allowList = createAllowList(allow)
  const isPort = (port: number) => (ports === '*' ? !BAD_PORTS.has(port) : ports.has(port))

  const guard: Guard = {
    checkUrl(raw, base) {
      const parsed = parseTargetUrl(raw, base)
      if ('fault' in parsed) throw new TargetError('invalid_url', URL_FAULTS[parsed.fault])
      const { url } = parsed
      const host = bareHost(url.hostname)
      if (isMetadataName(host)) throw new TargetError('blocked_address', 'The host is a metadata service of a cloud.')
      // With ranges allowed, what a local name resolves to decides, when the connection is made.
      if (isLocalName(host) && allowList.isEmpty) throw localName()
      if (isIP(host) !== 0) guard.checkAddress(host)
      const port = portOf(url)
      if (!isPort(port)) throw new TargetError('blocked_port', `Port ${port} is not fetched from.`)
      return url
    },
    checkAddress(address, host = address, local) {
      const reached = nat64 === 'allow' ? behindNat64(address) : address
      const name = classifyAddress(reached)
      const isAllowed = allowList.covers(reached)
      if (name !== 'public' && !isAllowed) throw refusal(name, host === address)
      if (isOwn(reached) || (reached === local && name !== 'loopback')) throw refusal('own', host === address)
      if (!isAllowed && isLocalName(host)) throw localName()
    },
  }
  return guard
}

/** The host of a URL or a connection without the brackets of IPv6. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** @param isLiteral whether the caller has sent the address. Of one that a name leads to, no more is said than its class. */
export const refusal = (name: AddressClass, isLiteral: boolean) =>
  new TargetError(
    'blocked_address',
    `The host ${isLiteral ? 'is' : 'leads to'} ${ADDRESS_CLASSES[name]}.`,
    name === 'own' ? { hint: OWN_HINT } : {},
  )

const localName = () => new TargetError('blocked_address', 'The host name is a local one, which is never public.')
