import { AppError } from '../../errors.ts'
import { createCallerPlaces } from '../../jobs/caller-places.ts'
import type { CheckPrograms, Program } from '../../jobs/check-programs.ts'
import { raceAbort } from '../../race-abort.ts'
import { createChildPool } from './child-pool.ts'

/** Milliseconds for one program, which needs a hundredth of that; the first one also loads the compiler. */
const PROGRAM_MS_MAX = 10_000
/** Milliseconds for all programs of one submission, the wait for its turn included. */
const SUBMISSION_MS_MAX = 15_000
/** Resident bytes of the child. */
const CHECK_BYTES_MAX = 256 * 1024 * 1024
/** Submissions whose programs are checked or wait for it. */
const SUBMISSIONS_TOTAL_MAX = 64
/** Those of one caller, so that there is room for others. */
const SUBMISSIONS_PER_CALLER_MAX = 32
/** Programs that are remembered to compile. */
const KNOWN_MAX = 1_000

export interface ProgramChecker {
  /** @throws {AppError} `programs_unchecked` if there are too many to check at the moment. */
  readonly check: CheckPrograms
  close(): Promise<void>
}

/**
 * Compiles callers' programs in a child process of its own, so that no submission waits behind a document. Callers take
 * turns, a program each, however many submissions one of them sends.
 */
export function createProgramChecker(): ProgramChecker {
  const pool = createChildPool({ workersMax: 1, memoryBytesMax: CHECK_BYTES_MAX })
  /** Programs that compile, the one asked for last at the end. */
  const known = new Set<string>()
  const submissions = createCallerPlaces({
    totalMax: SUBMISSIONS_TOTAL_MAX,
    perCallerMax: SUBMISSIONS_PER_CALLER_MAX,
  })

  /** By caller: settles when the submissions that came before are checked. */
  const earlier = new Map<string, Promise<void>>()

  async function inTurn<T>(caller: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = earlier.get(caller) ?? Promise.resolve()
    const own = Promise.withResolvers<void>()
    const last = before.then(() => own.promise)
    earlier.set(caller, last)
    try {
      await raceAbort(before, signal)
      return await work()
    } finally {
      own.resolve()
      if (earlier.get(caller) === last) earlier.delete(caller)
    }
  }

  async function faultsOf(programs: readonly Program[], signal: AbortSignal): Promise<(string | undefined)[]> {
    const faults: (string | undefined)[] = []
    for (const program of programs) faults.push(await faultOf(program, signal))
    return faults
  }

  /** One task a program: what one of them costs, or breaks, is told of no other. */
  async function faultOf(program: Program, signal: AbortSignal): Promise<string | undefined> {
    const key = `${program.language} ${program.source}`
    if (known.delete(key)) {
      known.add(key)
      return undefined
    }
    const ended = await pool.run('check', program, { timeMsMax: PROGRAM_MS_MAX, signal })
    if ('lost' in ended) return `compiling takes too much ${ended.lost === 'late' ? 'time' : 'memory'}`
    if (ended.output === undefined) remember(known.add(key))
    return ended.output
  }

  return {
    async check(programs, caller) {
      if (submissions.full(caller)) throw unchecked()
      const leave = submissions.take(caller)
      const late = AbortSignal.timeout(SUBMISSION_MS_MAX)
      try {
        return await inTurn(caller, late, () => faultsOf(programs, late))
      } catch (error) {
        throw late.aborted ? unchecked(error) : error
      } finally {
        leave()
      }
    },
    close: pool.close,
  }
}

function remember(known: Set<string>): void {
  if (known.size <= KNOWN_MAX) return
  for (const oldest of known) {
    known.delete(oldest)
    return
  }
}

function unchecked(cause?: unknown): AppError {
  return new AppError('programs_unchecked', 'The programs in the options could not be checked in time.', {
    hint: 'Try again in a moment.',
    cause,
  })
}
