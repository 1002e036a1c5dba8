// Loaded into a service under test: names under `.example` do not exist, whatever the machine's name server says.
import { promises } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

const lookup = promises.lookup
promises.lookup = async (host, options) => {
  if (!host.endsWith('.example')) return lookup(host, options)
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
}
syncBuiltinESMExports()
