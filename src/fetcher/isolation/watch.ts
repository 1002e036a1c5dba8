import { Worker } from 'node:worker_threads'

/** Milliseconds between two looks while a conversion runs. */
const LOOK_MS = 20

/** Slots of the shared state. */
const BUSY = 0

interface WatchData {
  readonly state: Int32Array<SharedArrayBuffer>
  readonly rssBytesMax: number
  readonly parentId: number
  readonly lookMs: number
}

/**
 * Starts a thread that kills this process, even while its main thread is stuck, if it uses more memory than it may or
 * its parent is gone. It looks only while a conversion runs; an idle process needs no guard, since its main thread sees
 * the parent go by itself. So an idle child costs no time at all.
 */
export function startWatch(rssBytesMax: number): { busy(): void; idle(): void } {
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData: WatchData = { state, rssBytesMax, parentId: process.ppid, lookMs: LOOK_MS }
  // From its source: a file would make the thread load the type stripper, for 30 MB.
  const thread = new Worker(`(${watch.toString()})()`, {
    eval: true,
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
  })
  thread.unref()
  return {
    busy() {
      Atomics.store(state, BUSY, 1)
      Atomics.notify(state, BUSY)
    },
    idle: () => void Atomics.store(state, BUSY, 0),
  }
}

/** Runs in the thread, from its source: it sees nothing of this module. */
function watch(): void {
  const { workerData } = process.getBuiltinModule('node:worker_threads')
  const { state, rssBytesMax, parentId, lookMs } = workerData as WatchData
  for (;;) {
    Atomics.wait(state, 0, 0) // While idle.
    if (process.memoryUsage.rss() > rssBytesMax || process.ppid !== parentId) process.kill(process.pid, 'SIGKILL')
    Atomics.wait(state, 0, 1, lookMs)
  }
}
