// Listens, tells its port in the memory it was given, and never runs again.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { workerData } from 'node:worker_threads'

const { host, port } = workerData as { readonly host: string; readonly port: Int32Array }
const server = createServer().listen({ host, port: 0, backlog: 1 })
await once(server, 'listening')
const bound = (server.address() as AddressInfo).port
Atomics.store(port, 0, bound)
Atomics.notify(port, 0)
Atomics.wait(port, 0, bound)
