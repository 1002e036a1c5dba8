import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** A server on the loopback network, on a free port unless one is given. `await using` ends it and its connections. */
export async function serve(server: Server, { host = '127.0.0.2', port = 0 } = {}) {
  const sockets = new Set<Socket>()
  let connections = 0
  let allClosed = Promise.withResolvers<void>()
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) {
        allClosed.resolve()
        allClosed = Promise.withResolvers()
      }
    })
  })
  server.on('tlsClientError', () => undefined)
  server.listen(port, host)
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  return {
    host,
    port: bound,
    origin: `http://${host}:${bound}`,
    /** Connections accepted so far. */
    get connections() {
      return connections
    },
    /** Resolves once no connection is open. */
    async idle() {
      if (sockets.size > 0) await allClosed.promise
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A server whose every byte is the test's own. */
export function rawServer(onConnection: (socket: Socket) => void, options?: { host?: string; port?: number }) {
  return serve(createServer(onConnection), options)
}

/** A server that answers the head of each request with the bytes that `answer` gives, and leaves the connection open. */
export function rawAnswers(answer: (head: string, socket: Socket) => string | Buffer, options?: { host?: string }) {
  return rawServer((socket) => {
    let head = ''
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      const request = head
      head = ''
      socket.write(answer(request, socket))
    })
  }, options)
}
