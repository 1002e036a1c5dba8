import { randomUUIDv7 } from 'node:crypto'

const TAIL_DIGITS = 12

/**
 * Makes ids of jobs: UUIDs of version 7, each greater than the one before, also within one millisecond and when the
 * clock of the system steps back. So their order is the order of creation while a process lives.
 */
export function createJobIds(): () => string {
  let last = ''
  return () => {
    const id = randomUUIDv7()
    last = id > last ? id : successor(last)
    return last
  }
}

/** Counts in the random digits at the end. */
function successor(id: string): string {
  const tail = (Number.parseInt(id.slice(-TAIL_DIGITS), 16) + 1) % 16 ** TAIL_DIGITS
  return id.slice(0, -TAIL_DIGITS) + tail.toString(16).padStart(TAIL_DIGITS, '0')
}
