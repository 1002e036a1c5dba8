import { isIP } from 'node:net'

import { TargetError } from '../../jobs/target-error.ts'
import { parseTargetUrl, URL_FAULTS } from '../../jobs/target-url.ts'
import { ADDRESS_CLASSES, classifyAddress } from './address.ts'
import { createAllowList } from './allow-list.ts'
import { isLocalName, isMetadataName } from './host-names.ts'
import { BAD_PORTS, portOf } from './ports.ts'

export interface GuardOptions {
  /** CIDR ranges allowed although they are not public. Metadata addresses stay denied. */
  readonly allow: readonly string[]
  /** `'*'`: all but those that browsers refuse. */
  readonly ports: ReadonlySet<number> | '*'
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
   * @throws {TargetError} `blocked_address`
   */
  checkAddress(address: string, host?: string): void
}

/** @throws {Error} for an entry of `allow` that is not a range. */
export function createGuard({ allow, ports }: GuardOptions): Guard {
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
    checkAddress(address, host = address) {
      if (allowList.covers(address)) return
      const name = classifyAddress(address)
      if (name !== 'public') {
        throw new TargetError(
          'blocked_address',
          `The host ${host === address ? 'is' : 'leads to'} ${ADDRESS_CLASSES[name]}.`,
        )
      }
      if (isLocalName(host)) throw localName()
    },
  }
  return guard
}

/** The host of a URL or a connection without the brackets of IPv6. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

const localName = () => new TargetError('blocked_address', 'The host name is a local one, which is never public.')
