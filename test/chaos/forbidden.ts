import { createServer } from 'node:net'

import { serve } from '../helpers/raw-server.ts'
import type { Kind } from './lab-process.ts'
import type { Log } from './log.ts'

/** Servers on both loopback addresses of the machine, which nobody may go to. Whoever comes is written down. */
export async function serveForbidden(log: Log) {
  await using starting = new AsyncDisposableStack()
  const listen = async (host: string, port: number) => {
    const server = createServer(({ localAddress, localPort }) =>
      log.write({ kind: 'touch', at: Date.now(), place: `${localAddress} port ${localPort}` }),
    )
    return starting.use(await serve(server, { host, port }))
  }
  const { port } = await listen('127.0.0.1', 0)
  await listen('::1', port).catch(() => undefined) // Not every machine has IPv6.
  const started = starting.move()
  return { port, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

/**
 * What is refused before anything is asked. All of it is on this machine, so that nobody else is bothered by a service
 * whose guard is broken.
 * @param port of the servers that nobody may go to.
 * @param service origin of the service itself.
 * @param allowed an address that may be fetched from, but not from every port.
 */
export function refusedKinds(port: number, service: string, allowed: string): Kind[] {
  const machine = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0.0.0.0', '[::]']
  const blocked = [...machine.map((host) => `http://${host}:${port}/`), `${service}/`]
  return [...blocked.map((url) => refused(url, 'blocked_address')), refused(`http://${allowed}:25/`, 'blocked_port')]
}

const refused = (url: string, outcome: string): Kind => {
  const { origin } = new URL(url)
  return { name: `refused ${origin}`, url, origin, options: {}, outcome, requests: 0 }
}
