import { lookup } from 'node:dns/promises'

import { TargetError } from '../../jobs/target-error.ts'
import type { Guard } from './guard.ts'

/** Gives every address of a host name, in the order in which to try them. Rejects with the code of the resolver. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The resolver of the system: its hosts file, then DNS. */
export const systemResolve: Resolve = async (host) => {
  const found = await lookup(host, { all: true, order: 'verbatim' })
  return found.map(({ address }) => address)
}

/**
 * Resolves a name to addresses that may all be connected to. One that may not denies the name: a mix is what an attack
 * looks like, and which of them is used is left to chance.
 * @throws {TargetError} `dns_not_found`, `blocked_address`
 */
export async function resolveChecked(host: string, resolve: Resolve, guard: Guard): Promise<readonly string[]> {
  const addresses = await resolve(host)
  if (addresses.length === 0) throw new TargetError('dns_not_found', 'The host name has no address.')
  for (const address of addresses) guard.checkAddress(address, host)
  return addresses
}
