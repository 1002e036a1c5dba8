import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

import { serve } from '../helpers/raw-server.ts'
import type { Behaviour, Places } from './behaviour.ts'
import { holdFullQueue } from './full-queue.ts'

/** Means nothing to anybody, and is never given out by a system. */
const UNUSED_PORT = 4
/** Characters of the head of a request that are taken in. */
const HEAD_LENGTH_MAX = 65_536

/** Told when a request has come, and when its answer has left or its connection has closed. */
export type Witness = (path: string, event: 'request' | 'end') => void

/** Serves a behaviour on a free port of an address. `await using` ends it and its connections. */
export async function serveBehaviour(behaviour: Behaviour, address: string, forbidden: string, witness: Witness) {
  const { host, url, certificate } = behaviour
  const server = await openServer(behaviour, address)
  const origin = `${certificate === undefined ? 'http' : 'https'}://${host?.name ?? address}:${server.port}`
  const places: Places = { address, port: server.port, origin, forbidden }
  const asked = new Map<string, number>()
  const answer = async (socket: Socket, gone: Promise<void>, head: string) => {
    const path = head.split(' ', 2)[1] ?? ''
    const nth = (asked.get(path) ?? 0) + 1
    asked.set(path, nth)
    witness(path, 'request')
    await Promise.race([behaviour.answer?.(socket, { path, head, nth }, places), gone])
    witness(path, 'end')
  }
  server.onConnection((socket) => {
    const gone = new Promise<void>((resolve) => socket.on('error', () => undefined).once('close', resolve))
    behaviour.onConnection?.(socket)
    onRequest(socket, (head) => void answer(socket, gone, head))
  })
  return {
    /** What to fetch. */
    url: url?.(places) ?? `${origin}/`,
    /** Requests that have come so far. */
    get requests() {
      return asked.values().reduce((total, count) => total + count, 0)
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

interface OpenServer extends AsyncDisposable {
  readonly port: number
  onConnection(listener: (socket: Socket) => void): void
}

async function openServer({ absent, certificate }: Behaviour, address: string): Promise<OpenServer> {
  if (absent === 'not-there') return { port: UNUSED_PORT, onConnection() {}, async [Symbol.asyncDispose]() {} }
  if (absent === 'queue-full') return { ...(await holdFullQueue(address)), onConnection() {} }
  const server = certificate === undefined ? createServer() : createTlsServer(identity(certificate))
  const served = await serve(server, { host: address })
  return {
    port: served.port,
    onConnection: (listener) => void server.on(certificate === undefined ? 'connection' : 'secureConnection', listener),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

const file = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
const identity = (name: string) => ({ cert: file(name), key: file(`${name}-key`) })

/** Takes in the heads of the requests on a connection. None of them has a body. */
function onRequest(socket: Socket, take: (head: string) => void): void {
  let head = ''
  socket.on('data', (chunk: Buffer) => {
    head += chunk.toString('latin1')
    if (head.length > HEAD_LENGTH_MAX) socket.destroy()
    if (!head.includes('\r\n\r\n')) return
    const request = head
    head = ''
    take(request)
  })
}
