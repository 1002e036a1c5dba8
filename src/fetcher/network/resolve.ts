import { Resolver } from 'node:dns/promises'

import { TargetError } from '../../jobs/target-error.ts'
import { networkFault } from './errors.ts'
import type { Guard } from './guard.ts'
import { isLocalName } from './host-names.ts'
import { createHostsFile } from './hosts-file.ts'
import { createSystemResolver } from './system-resolver.ts'

/** Milliseconds of a look-up in all. What is found must be connected to within the rest of `CONNECT_MS_MAX`. */
const LOOKUP_MS_MAX = 8_000
/** Milliseconds that the addresses of one family wait for those of the other. */
const OTHER_FAMILY_MS_MAX = 2_000
/** Milliseconds that each name server gets in the first round; in the second, twice that. */
const ANSWER_MS_MAX = 1_500
const ROUNDS = 2

/**
 * Gives every address of a host name, in the order in which to try them; none if it has none or does not exist. Rejects
 * with the code of the resolver.
 */
export type Resolve = (host: string) => Promise<readonly string[]>

export interface SystemResolveOptions {
  /** Name servers, as address and port, instead of those of the system; for tests. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
}

/**
 * Looks names up in the hosts file, then at the name servers of the system. Local names go to the system's own resolver,
 * which cannot be called off, and which the process cannot end before: no name of which anybody can run the name server
 * may get there.
 */
export function createSystemResolve({ servers, hostsFile = '/etc/hosts' }: SystemResolveOptions = {}): Resolve {
  const addressesInFile = createHostsFile(hostsFile)
  const askSystem = createSystemResolver()
  return async (host) => {
    const listed = addressesInFile(host)
    if (listed.length > 0) return listed
    return isLocalName(host) ? askSystem(host) : askNameServers(host, servers)
  }
}

/** The resolver of the service. */
export const systemResolve: Resolve = createSystemResolve()

/** Asks for both families side by side. The resolver is a new one each time, so that it uses the settings of now. */
async function askNameServers(host: string, servers?: readonly string[]): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: ANSWER_MS_MAX, tries: ROUNDS })
  if (servers !== undefined) resolver.setServers(servers)
  const giveUpAfter = (ms: number) => setTimeout(() => resolver.cancel(), ms)
  const timers = [giveUpAfter(LOOKUP_MS_MAX)]
  const hurryOther = (addresses: string[]) => {
    timers.push(giveUpAfter(OTHER_FAMILY_MS_MAX))
    return addresses
  }
  const answers = await Promise.allSettled(
    [resolver.resolve4(host), resolver.resolve6(host)].map((family) => family.then(hurryOther)),
  )
  for (const timer of timers) clearTimeout(timer)
  const fault = answers.map(faultOf).find((error) => error !== undefined)
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length === 0 && fault !== undefined) throw fault
  return found
}

/** Codes that say that a name has no addresses of a family: it does not exist, has others, or cannot be one. */
const NOT_FOUND: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/** Why nothing is known of a family; undefined if something is. */
function faultOf(answer: PromiseSettledResult<unknown>): Error | undefined {
  if (answer.status === 'fulfilled') return undefined
  const cause = answer.reason as NodeJS.ErrnoException
  if (NOT_FOUND.has(cause.code)) return undefined
  // The code is that of a server that refuses a connection; this was the name server.
  if (cause.code === 'ECONNREFUSED') return new TargetError('dns_failure', 'No name server can be reached.', { cause })
  return cause
}

/**
 * Resolves a name to addresses that may all be connected to. One that may not denies the name: a mix is what an attack
 * looks like, and which of them is used is left to chance.
 * @throws {TargetError} `dns_not_found`, `blocked_address`
 */
export async function resolveChecked(host: string, resolve: Resolve, guard: Guard): Promise<readonly string[]> {
  const addresses = await resolve(host)
  if (addresses.length === 0) throw networkFault('dns_not_found')
  for (const address of addresses) guard.checkAddress(address, host)
  return addresses
}
