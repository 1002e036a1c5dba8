// What it costs to send 32 results of 3 MB, row by row as the service does and as one serialised object; and answers
// per second of the service beside a bare Fastify that sends the same bytes. Only the ratios mean anything on a shared
// machine: the sides take turns in one run, each in a process of its own that has done nothing before.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

import fastify from 'fastify'

import type { JobStore } from '../src/jobs/store.ts'
import { openSqliteStore } from '../src/store/sqlite-store.ts'
import { buildService, numbered } from '../test/helpers/service.ts'

const RESULTS = 32
const RESULT_BYTES = 3_000_000
const ROUNDS = 5
const CONNECTIONS = 16
const REQUESTS = 1_000
const MEGABYTE = 1024 * 1024
const CAPS = { jobsPerCallerMax: 1_000, jobsTotalMax: 1_000 }

/** What a server of this bench is told to be, and to send. */
interface Task {
  readonly side: 'service' | 'object' | 'bare'
  readonly file: string
  readonly id: string
  /** For `bare`: the body of every answer. */
  readonly body?: string
}
/** Cost of what a server has sent since it was ready. */
interface Cost {
  readonly delayMs: number
  readonly memoryMb: number
}
type Costs = Record<'service' | 'object', Cost[]>

if (process.send) await serveTask(JSON.parse(process.argv[2] ?? '') as Task)
else await main()

async function main(): Promise<void> {
  const data = path.join(process.cwd(), 'data')
  mkdirSync(data, { recursive: true })
  const folder = mkdtempSync(path.join(data, 'bench-'))
  try {
    await compareReading(path.join(folder, 'large.db'))
    await compareRates(path.join(folder, 'small.db'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Reads 32 results of 3 MB from both sides. */
async function compareReading(file: string): Promise<void> {
  const { id } = await fill(file, RESULTS, RESULT_BYTES)
  const costs: Costs = { service: [], object: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of ['service', 'object'] as const) costs[side].push(await costOfReading({ side, file, id }))
  }
  const [service, object] = [costs.service, costs.object].map((all) => ({
    delayMs: median(all.map(({ delayMs }) => delayMs)),
    memoryMb: median(all.map(({ memoryMb }) => memoryMb)),
  })) as [Cost, Cost]
  console.table({
    'row by row': { 'longest delay, ms': round(service.delayMs), 'memory growth, MB': round(service.memoryMb) },
    'one object': { 'longest delay, ms': round(object.delayMs), 'memory growth, MB': round(object.memoryMb) },
    'row by row : one object': {
      'longest delay, ms': round(service.delayMs / object.delayMs),
      'memory growth, MB': round(service.memoryMb / object.memoryMb),
    },
  })
}

async function costOfReading(task: Task): Promise<Cost> {
  await using server = await startServer(task)
  const socket = connect(server.port, '127.0.0.1')
  socket.write(requestText('GET', `/jobs/${task.id}`, '', 'close'))
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  if (bytes < RESULTS * RESULT_BYTES) throw new Error(`Only ${bytes} bytes came.`)
  return await server.cost() // Before the server is gone.
}

/** Answers per second of the same requests to the service and to bare Fastify. */
async function compareRates(file: string): Promise<void> {
  const { id, submission } = await fill(file, 3, 4_000)
  const requests = {
    'GET a job of 12 kB': () => requestText('GET', `/jobs/${id}`),
    'GET its summary': () => requestText('GET', `/jobs/${id}?view=summary`),
    'POST the same again': () => requestText('POST', '/jobs', submission),
    'POST a new job': (n: number) => requestText('POST', '/jobs', freshSubmission(n)),
  }
  const rows: Record<string, object> = {}
  for (const [name, request] of Object.entries(requests)) {
    const rates = { service: [] as number[], bare: [] as number[] }
    let sent = 0
    const next = () => request(sent++)
    for (let turn = 0; turn < ROUNDS; turn++) {
      await using service = await startServer({ side: 'service', file, id })
      const body = await bodyOf(service.port, next())
      await using bare = await startServer({ side: 'bare', file, id, body })
      rates.service.push(await rate(service.port, next))
      rates.bare.push(await rate(bare.port, next))
    }
    const [service, bare] = [median(rates.service), median(rates.bare)]
    rows[name] = { 'service/s': round(service), 'bare Fastify/s': round(bare), ratio: round(service / bare) }
  }
  console.table(rows)
}

/** Makes a database with one finished job. */
async function fill(file: string, count: number, bytes: number): Promise<{ id: string; submission: string }> {
  await using service = await buildService({ file, ...CAPS })
  service.fetch.answer((call) => call.succeed('A line of text.\n'.repeat(bytes / 16)))
  const submission = { targets: numbered(count).map((name) => ({ url: `https://${name}.example/` })) }
  const { body } = await service.submit(submission)
  await service.runner.idle()
  return { id: body.id, submission: JSON.stringify(submission) }
}

/** The same length for every `n`. */
function freshSubmission(n: number): string {
  return JSON.stringify({ targets: [{ url: `https://new.example/${String(n).padStart(8, '0')}` }] })
}

function requestText(method: string, target: string, body = '', connection = 'keep-alive'): string {
  const type = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Caller-Id: alice\r\nConnection: ${connection}\r\n${type}\r\n${body}`
}

/** Answers per second, one request at a time on each connection. All answers to requests of a kind are equally long. */
async function rate(port: number, next: () => string): Promise<number> {
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const [first] = sockets
  const bytes = (await exchange(first as Socket, next())).length
  await repeat(sockets, REQUESTS / 5, bytes, next) // Warms both sides up.
  const startedAt = performance.now()
  await repeat(sockets, REQUESTS, bytes, next)
  const seconds = (performance.now() - startedAt) / 1_000
  for (const socket of sockets) socket.destroy()
  return REQUESTS / seconds
}

async function repeat(sockets: readonly Socket[], count: number, bytes: number, next: () => string): Promise<void> {
  let left = count
  await Promise.all(
    sockets.map(async (socket) => {
      while (left-- > 0) {
        socket.write(next())
        for (let got = 0; got < bytes;) got += ((await once(socket, 'data')) as [Buffer])[0].length
      }
    }),
  )
}

/** The whole answer, whether its length or its last chunk tells where it ends. */
async function exchange(socket: Socket, text: string): Promise<Buffer> {
  socket.write(text)
  let answer = Buffer.alloc(0)
  for (;;) {
    answer = Buffer.concat([answer, ((await once(socket, 'data')) as [Buffer])[0]])
    const head = answer.indexOf('\r\n\r\n') + 4
    const length = /^content-length: (\d+)/im.exec(answer.subarray(0, head).toString())?.[1]
    if (
      head > 3 &&
      (length === undefined ? answer.toString().endsWith('0\r\n\r\n') : answer.length >= head + Number(length))
    )
      return answer
  }
}

async function bodyOf(port: number, text: string): Promise<string> {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [method = '', target = ''] = head.split(' ')
  const headers = { 'x-caller-id': 'alice', ...(body !== '' && { 'content-type': 'application/json' }) }
  const answer = await fetch(`http://127.0.0.1:${port}${target}`, { method, headers, ...(body !== '' && { body }) })
  if (!answer.ok) throw new Error(`${method} ${target} answers ${answer.status}.`)
  return answer.text()
}

/** Starts this file as a server. `await using` ends it. */
async function startServer(task: Task) {
  const child = fork(import.meta.filename, [JSON.stringify(task)], { execArgv: ['--expose-gc'] })
  const ask = async (question: string): Promise<unknown> => {
    child.send(question)
    return ((await once(child, 'message')) as [unknown])[0]
  }
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    cost: async () => (await ask('cost')) as Cost,
    [Symbol.asyncDispose]: () => ended(child),
  }
}

async function ended(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** The server process: listens, tells its port, and then what it has cost when it is asked. */
async function serveTask({ side, file, id, body = '' }: Task): Promise<void> {
  const app =
    side === 'service' ? await openService(file) : bareApp(side === 'object' ? openSqliteStore(file) : body, id)
  await app.listen({ host: '127.0.0.1', port: 0 })
  globalThis.gc?.()
  const memoryBefore = process.memoryUsage.rss()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  process.on('message', () => {
    const memoryPeak = process.resourceUsage().maxRSS * 1024
    const cost: Cost = { delayMs: delay.max / 1e6, memoryMb: (memoryPeak - memoryBefore) / MEGABYTE }
    process.send?.(cost)
  })
  process.send?.((app.server.address() as AddressInfo).port)
}

async function openService(file: string) {
  const { app, fetch } = await buildService({ file, ...CAPS })
  fetch.answer((call) => call.succeed('text'))
  return app
}

/** Fastify alone, which sends these bytes; or the job, read whole from this store and serialised at once. */
function bareApp(source: string | JobStore, id: string) {
  const app = fastify()
  if (typeof source === 'string') {
    const bytes = Buffer.from(source)
    for (const method of ['GET', 'POST'] as const) {
      app.route({ method, url: '/*', handler: (_, reply) => reply.type('application/json; charset=utf-8').send(bytes) })
    }
    return app
  }
  app.get('/*', async () => {
    const { job, targets } = (await source.find(id, 'id:alice', 0)) ?? { job: {}, targets: [] }
    const outcomes = await Promise.all(targets.map(({ idx }) => source.readOutcome(id, idx)))
    const parsed = outcomes.map((outcome) => JSON.parse(Buffer.from(outcome ?? []).toString()) as object)
    return { ...job, targets: targets.map((target, idx) => ({ ...target, ...parsed[idx] })) }
  })
  return app
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
