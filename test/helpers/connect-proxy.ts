import { createServer, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'

import { serve } from './raw-server.ts'

/** Answers a CONNECT in the place of the proxy, or does not answer at all. */
export type ProxyAct = (socket: Socket, authority: string) => void

/**
 * A proxy that speaks CONNECT, and nothing else, on 127.0.0.1. `act` gives what to do instead of opening a tunnel, for
 * the authorities that it gives anything for. `await using` ends it and its tunnels.
 */
export async function serveProxy(act: (authority: string) => ProxyAct | undefined = () => undefined) {
  const asked: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const forwarded: string[] = []
  const server = createServer((request, response) => {
    forwarded.push(request.url ?? '')
    response.writeHead(400).end()
  })
  server.on('connect', (request, socket: Socket, head: Buffer) => {
    const authority = request.url ?? ''
    asked.push(authority)
    headers.push(request.headers)
    const instead = act(authority)
    if (instead) {
      socket.resume().once('end', () => socket.end()) // A server of HTTP leaves its half open.
      return instead(socket, authority)
    }
    const { hostname, port } = new URL(`tunnel://${authority}`)
    const far = connect(Number(port), hostname.replace(/^\[|\]$/g, ''))
    far.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      far.write(head)
      far.pipe(socket).pipe(far)
    })
    far.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    far.on('close', () => socket.destroy())
    return socket.on('close', () => far.destroy())
  })
  const served = await serve(server, { host: '127.0.0.1' })
  return {
    url: served.origin,
    port: served.port,
    /** What tunnels were asked for, and with which headers. */
    asked,
    headers,
    /** Requests that were no CONNECT. */
    forwarded,
    get connections() {
      return served.connections
    },
    idle: () => served.idle(),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

/** Answers with these bytes and leaves the connection open. */
export const answering =
  (bytes: string): ProxyAct =>
  (socket) =>
    void socket.write(bytes)
