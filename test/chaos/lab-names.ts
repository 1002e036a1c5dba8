// Loaded into the service under test: names under `.test` are those of the lab, and only `localhost` is a name beside.
import { promises } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

/** Milliseconds for an answer. On a busy machine an answer takes its time; silence must still end within a target. */
const ANSWER_MS_MAX = 1_500

const resolver = new promises.Resolver({ timeout: ANSWER_MS_MAX, tries: 1 })
resolver.setServers([process.env.LAB_NAME_SERVER ?? ''])
const { lookup } = promises

async function resolve(host: string) {
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
  return [
    ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 })),
    ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 })),
  ]
}

promises.lookup = (async (host: string, options: { all: true }) => {
  if (host === 'localhost') return lookup(host, options)
  if (host.endsWith('.test')) return resolve(host)
  throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
}) as typeof lookup
syncBuiltinESMExports()
