import { EventEmitter } from 'node:events'
import { createServer } from 'node:net'

import { serveArchive } from '../helpers/fake-archive.ts'
import { serve } from '../helpers/raw-server.ts'
import { BEHAVIOURS } from './behaviours.ts'
import { startNameServer } from './name-server.ts'
import { serveBehaviour } from './serve-behaviour.ts'

/**
 * What a service under test has to allow: the addresses of the servers, of which each has its own, and one that no
 * route leads to.
 */
export const LAB_RANGES = ['127.7.0.0/16', '127.255.255.255/32']
/** Where nobody may go. */
const FORBIDDEN_ADDRESS = '127.8.0.1'
const ARCHIVE_ADDRESS = '127.7.255.1'

/** What the lab saw. A request ends when its answer has left, or its connection has closed. */
export interface Hit {
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  readonly behaviour: string
  /** Path and query as they were sent. */
  readonly path: string
  readonly event: 'request' | 'end'
}

export type Lab = Awaited<ReturnType<typeof startLab>>

/** Serves every behaviour in this process. `await using` ends it. */
export async function startLab() {
  await using starting = new AsyncDisposableStack()
  const hits = new EventEmitter<{ hit: [Hit] }>()
  const forbidden = starting.use(await serve(createServer(), { host: FORBIDDEN_ADDRESS }))
  const archive = starting.use(await serveArchive([], { host: ARCHIVE_ADDRESS }))
  const names = starting.use(
    await startNameServer(
      Object.fromEntries(
        BEHAVIOURS.flatMap(({ host }, index) => (host ? [[host.name, host.answers(addressOf(index))]] : [])),
      ),
    ),
  )
  const servers = new Map<string, Awaited<ReturnType<typeof serveBehaviour>>>()
  for (const [index, behaviour] of BEHAVIOURS.entries()) {
    const server = await serveBehaviour(behaviour, addressOf(index), forbidden.origin, (path, event) =>
      hits.emit('hit', { at: Date.now(), behaviour: behaviour.name, path, event }),
    )
    servers.set(behaviour.name, starting.use(server))
  }
  const started = starting.move()
  return {
    /** What to fetch, by the name of the behaviour. */
    urls: Object.fromEntries([...servers].map(([name, { url }]) => [name, url])),
    /** Requests that a behaviour has seen so far. */
    requests: (name: string) => servers.get(name)?.requests,
    /** Emits what the lab sees. */
    hits,
    /** Origin of a server that nobody may go to. */
    forbidden: forbidden.origin,
    /** Connections made to it all the same. */
    get trespasses() {
      return forbidden.connections
    },
    /** Address and port of the name server that knows the hosts of the lab. */
    nameServer: names.address,
    /** Origin of a web archive that holds nothing. */
    archive: archive.origin,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const addressOf = (index: number) => `127.7.0.${index + 1}`
