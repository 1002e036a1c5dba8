import path from 'node:path'
import { fileURLToPath } from 'node:url'

import type { WorkerPoolOptions } from 'workerpool'

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url))
/** What a child loads, and all that it may read. */
const READABLE = ['src/fetcher/*', 'node_modules/*', 'package.json']
/** The share of the resident memory that the JavaScript heap may take; the rest is the program and buffers. */
const HEAP_SHARE = 0.75
const MEGABYTE = 1024 * 1024

/**
 * How a child is started: without the parent's environment, which holds secrets; reading only its own code; without
 * writing files and starting processes. Node 24 has no switch that would take its network away as well.
 *
 * Its output is read and dropped: workerpool overrides `stdio`, and an unread pipe could fill up and block a child.
 */
export const childOptions = (memoryBytesMax: number): WorkerPoolOptions => ({
  workerType: 'process',
  minWorkers: 0,
  maxWorkers: 1,
  // Milliseconds between the request to a child to end and the signal that ends it. Zero would mean 1,000.
  workerTerminateTimeout: 1,
  emitStdStreams: true,
  forkArgs: [String(memoryBytesMax)],
  forkOpts: {
    cwd: PROJECT,
    env: {},
    serialization: 'advanced',
    execArgv: childFlags(memoryBytesMax),
  },
})

/** The flags of Node that a child runs with. */
export const childFlags = (memoryBytesMax: number): string[] => [
  '--permission',
  ...READABLE.map((name) => `--allow-fs-read=${path.join(PROJECT, name)}`),
  '--allow-worker',
  '--no-warnings',
  `--max-old-space-size=${Math.floor((memoryBytesMax * HEAP_SHARE) / MEGABYTE)}`,
]
