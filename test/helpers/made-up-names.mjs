// Loaded into a service under test: names under `.example` do not exist, whatever the machine's name server says.
import { promises } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

for (const [owner, method] of [
  [promises, 'lookup'],
  [promises.Resolver.prototype, 'resolve4'],
  [promises.Resolver.prototype, 'resolve6'],
]) {
  const ask = owner[method]
  owner[method] = async function madeUp(host, ...options) {
    if (!host.endsWith('.example')) return ask.call(this, host, ...options)
    throw Object.assign(new Error(`${method} ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
  }
}
syncBuiltinESMExports()
