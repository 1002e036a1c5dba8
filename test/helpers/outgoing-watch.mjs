// Loaded into a service under test, and by it into its children: writes down all that goes out, a line each, and makes
// up names. The query of its URL has the file to write to and, for the service, what names resolve to.
import { ChildProcess } from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const { searchParams } = new URL(import.meta.url)
const file = searchParams.get('file')
const zone = JSON.parse(searchParams.get('zone') ?? '{}')
const role = process.argv[1]?.endsWith('main.ts') ? 'service' : 'child'

const tell = (kind, what) => appendFileSync(file, `${role} ${kind} ${what}\n`)

/** Tells of every call of a method before it is made. */
function watch(owner, name, kind, describe) {
  const method = owner[name]
  owner[name] = function watched(...args) {
    const what = describe(...args)
    if (what !== undefined) tell(kind, what)
    return method.apply(this, args)
  }
}

const { connect } = net.Socket.prototype
net.Socket.prototype.connect = function watched(...args) {
  const [options] = args.flat()
  const path = typeof options === 'string' ? options : options.path
  if (path) tell('path', path)
  // For each address that is tried, whoever resolved it.
  this.on('connectionAttempt', (address, port) =>
    tell('tcp', net.isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`),
  )
  return connect.apply(this, args)
}

for (const name of ['connect', 'send', 'bind']) watch(dgram.Socket.prototype, name, 'udp', () => name)

for (const owner of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  for (const name of Object.getOwnPropertyNames(owner)) {
    if (/^(?:lookup|resolve|reverse)/.test(name))
      watch(owner, name, 'name', (host) => (net.isIP(host) === 0 ? host : undefined))
  }
}

/** What the name server says, whichever way it is asked; the packets of the one way that has some are not seen here. */
async function answer(host, family) {
  tell('name', host)
  const addresses = zone[host]?.filter((address) => family === undefined || net.isIP(address) === family)
  if (addresses?.length > 0) return addresses
  const code = addresses === undefined ? 'ENOTFOUND' : 'ENODATA'
  throw Object.assign(new Error(`${code} ${host}`), { code })
}
dns.promises.lookup = async (host) => (await answer(host)).map((address) => ({ address, family: net.isIP(address) }))
dns.promises.Resolver.prototype.resolve4 = (host) => answer(host, 4)
dns.promises.Resolver.prototype.resolve6 = (host) => answer(host, 6)

const { spawn } = ChildProcess.prototype
ChildProcess.prototype.spawn = function watched(options) {
  const [program, ...rest] = options.args
  const itself = fileURLToPath(import.meta.url)
  const rights = [`--allow-fs-read=${itself}`, `--allow-fs-write=${file}`]
  const args = [
    program,
    ...rights,
    `--import=${new URL(`?${new URLSearchParams({ file })}`, import.meta.url).href}`,
    ...rest,
  ]
  return spawn.call(this, { ...options, args })
}

syncBuiltinESMExports()
if (isMainThread) tell('started', role === 'service' ? 'main.ts' : (process.argv[1] ?? ''))
