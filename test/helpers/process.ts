import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type { JobView, Submission } from '../../src/jobs/schema.ts'

export interface ServiceProcess {
  readonly origin: string
  readonly child: ChildProcess
  readonly submit: (submission: Submission, caller?: string) => Promise<{ status: number; body: JobView }>
  readonly get: (id: string, caller?: string) => Promise<JobView>
  /** The job once it has ended. */
  readonly ended: (id: string, caller?: string) => Promise<JobView>
  /** Sends `signal` and resolves with the exit code, or the signal that ended the process. */
  readonly stop: (signal: NodeJS.Signals) => Promise<number | string | null>
}

/** What the started process may reach: the fixture servers of the tests, and nothing public. */
const ENV = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  HOST: '127.0.0.1',
  PORT: '0',
  PAGEHAUL_GUARD_ALLOW: '127.0.0.0/8',
  PAGEHAUL_GUARD_PORTS: '*',
  PAGEHAUL_HOST_GAP_MS: '0',
}

type SendInit = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> }

/** Runs the service as a process of its own, and resolves once it listens. */
export async function startService(
  env: NodeJS.ProcessEnv,
  command: readonly string[] = [process.execPath, 'src/main.ts'],
): Promise<ServiceProcess> {
  const [file = '', ...args] = command
  const child = spawn(file, args, { env: { ...ENV, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const origin = await listening(child)
  const send = async (path: string, caller: string, init: SendInit = {}) => {
    const headers = { 'x-caller-id': caller, 'content-type': 'application/json', ...init.headers }
    const response = await fetch(origin + path, { ...init, headers })
    return { status: response.status, body: (await response.json()) as JobView }
  }
  return {
    origin,
    child,
    submit: (submission, caller = 'alice') =>
      send('/jobs', caller, { method: 'POST', body: JSON.stringify(submission) }),
    get: async (id, caller = 'alice') => (await send(`/jobs/${id}`, caller)).body,
    async ended(id, caller = 'alice') {
      for (;;) {
        const { body } = await send(`/jobs/${id}`, caller, { headers: { prefer: 'wait=50' } })
        if (body.finished_at !== undefined) return body
      }
    },
    async stop(signal) {
      const exited = once(child, 'exit')
      child.kill(signal)
      const [code, endedBy] = (await exited) as [number | null, string | null]
      return code ?? endedBy
    },
  }
}

/** Runs the service where it is expected not to start; resolves with its exit code and what it told the operator. */
export async function failToStart(
  env: NodeJS.ProcessEnv,
  user?: number,
): Promise<{ code: number | null; stderr: string }> {
  const as = user === undefined ? {} : { uid: user, gid: user }
  const child = spawn(process.execPath, ['src/main.ts'], {
    env: { ...ENV, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...as,
  })
  const [stderr, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'exit')])
  return { code: code as number | null, stderr: Buffer.concat(stderr as Buffer[]).toString() }
}

async function listening(child: ChildProcess): Promise<string> {
  if (!child.stdout || !child.stderr) throw new Error('the output of the process is piped')
  const told: string[] = []
  child.stderr.on('data', (chunk: Buffer) => told.push(chunk.toString()))
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /listening at (http:[^"]+)/.exec(line)?.[1]
    if (address === undefined) continue
    child.stdout.resume()
    return address
  }
  throw new Error(`the service did not start: ${told.join('')}`)
}
