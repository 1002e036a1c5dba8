import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

/** Connections that the shortest queue of Linux holds. */
const QUEUE_CONNECTIONS = 2

/**
 * A port whose queue of connections is full and stays so, since the thread that listens there never runs again: a
 * further connection is neither accepted nor refused. `await using` ends it.
 */
export async function holdFullQueue(host: string) {
  const shared = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('full-queue-thread.ts', import.meta.url), { workerData: { host, port: shared } })
  await Atomics.waitAsync(shared, 0, 0).value
  const port = Atomics.load(shared, 0)
  const sockets: Socket[] = []
  for (let count = 0; count < QUEUE_CONNECTIONS; count += 1) {
    const socket = connect(port, host).on('error', () => undefined)
    sockets.push(socket)
    await once(socket, 'connect')
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await worker.terminate()
    },
  }
}
