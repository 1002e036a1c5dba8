// Loaded into the service under test: its name server is that of the lab, and only `localhost` is a local name.
import { promises, type ResolverOptions } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

/** Milliseconds for an answer. On a busy machine an answer takes its time; silence must still end within a target. */
const ANSWER_MS_MAX = 1_500

const { lookup, Resolver } = promises

promises.Resolver = class extends Resolver {
  constructor(options?: ResolverOptions) {
    super({ ...options, timeout: ANSWER_MS_MAX, tries: 1 })
    this.setServers([process.env.LAB_NAME_SERVER ?? ''])
  }
}

promises.lookup = (async (host: string, options: { all: true }) => {
  if (host === 'localhost') return lookup(host, options)
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
}) as typeof lookup
syncBuiltinESMExports()
