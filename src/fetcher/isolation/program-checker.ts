import type { CheckPrograms } from '../../jobs/check-programs.ts'
import { createChildPool } from './child-pool.ts'

/** Milliseconds for all programs of one submission. */
const CHECK_MS_MAX = 5_000
const CHECK_BYTES_MAX = 256 * 1024 * 1024

export interface ProgramChecker {
  readonly check: CheckPrograms
  close(): Promise<void>
}

/** Compiles callers' programs in a child process of its own, so that no submission waits behind a document. */
export function createProgramChecker(): ProgramChecker {
  const pool = createChildPool({ workersMax: 1, memoryBytesMax: CHECK_BYTES_MAX })
  const never = new AbortController().signal
  return {
    async check(programs) {
      const ended = await pool.run('check', programs, { timeMsMax: CHECK_MS_MAX, signal: never })
      if ('output' in ended) return ended.output
      const fault = `compiling takes too much ${ended.lost === 'late' ? 'time' : 'memory'}`
      return programs.map(() => fault)
    },
    close: pool.close,
  }
}
