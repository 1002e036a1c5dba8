import { fileURLToPath } from 'node:url'

import workerpool from 'workerpool'

import { childOptions } from './child-options.ts'
import type { Answer, TaskName, Tasks } from './tasks.ts'
import { within } from './within.ts'

const ENTRY = fileURLToPath(new URL('./child.ts', import.meta.url))
/** Milliseconds in which a child must be up, on a machine however busy. */
const START_MS_MAX = 60_000

/** One child process, good for one task at a time. */
export interface TaskChild {
  /** Whether the child answers; waits while it starts. */
  isUp(): Promise<boolean>
  /** Rejects if the child dies first, of itself or by `kill`. */
  run<Name extends TaskName>(
    name: Name,
    input: Tasks[Name]['input'],
    onPart?: (part: Tasks[Name]['part']) => void,
  ): Promise<Answer<Tasks[Name]['output']>>
  /** Ends the child, whatever it does; resolves once the process is gone. Not to be used after that. */
  kill(): Promise<void>
}

/**
 * Starts a child. Each has a workerpool of its own: in a shared one, a task that waits behind a child that crashes is
 * not started until another one comes, and one that waits behind a kill may meet the dying child.
 */
export function startChild(memoryBytesMax: number): TaskChild {
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
    run: async (name, input, onPart = () => {}) => (await pool.exec(name, [input], { on: onPart })) as never,
    async kill() {
      await pool.terminate(true)
    },
  }
}
