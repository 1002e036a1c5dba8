import { fileURLToPath } from 'node:url'

import workerpool from 'workerpool'

import type { SourceDocument } from '../convert/document.ts'
import type { Answer } from './answer.ts'
import { childOptions } from './child-options.ts'
import { within } from './within.ts'

const ENTRY = fileURLToPath(new URL('./child.ts', import.meta.url))
/** Milliseconds in which a child must be up, on a machine however busy. */
const START_MS_MAX = 60_000

/** One child process, good for one conversion at a time. */
export interface ConversionChild {
  /** Whether the child answers; waits while it starts. */
  isUp(): Promise<boolean>
  /** Rejects if the child dies first, of itself or by `kill`. */
  convert(source: SourceDocument): Promise<Answer>
  /** Ends the child, whatever it does; resolves once the process is gone. Not to be used after that. */
  kill(): Promise<void>
}

/**
 * Starts a child. Each has a workerpool of its own: in a shared one, a task that waits behind a child that crashes is
 * not started until another one comes, and one that waits behind a kill may meet the dying child.
 */
export function startChild(memoryBytesMax: number): ConversionChild {
  const pool = workerpool.pool(ENTRY, childOptions(memoryBytesMax))
  const ping = async () => {
    try {
      return (await pool.exec('ping', [])) === true
    } catch {
      return false // It died.
    }
  }
  void ping() // The first task starts the process.
  return {
    isUp: () => within(START_MS_MAX, ping(), () => false),
    convert: async (source) => (await pool.exec('convert', [source])) as Answer,
    async kill() {
      await pool.terminate(true)
    },
  }
}
