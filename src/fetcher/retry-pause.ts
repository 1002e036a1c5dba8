/** Requests made for one page or one answer, the first included. */
export const TRIES_MAX = 3
/** Milliseconds before the second try at most; twice as many before the third. */
const FIRST_PAUSE_MS_MAX = 1_000

/**
 * Milliseconds to wait after the given number of tries, with full jitter: anything from none to a limit that doubles, so
 * that those who failed together do not come back together.
 * @param random from 0 to 1.
 */
export const retryPauseMs = (tries: number, random: () => number): number =>
  random() * FIRST_PAUSE_MS_MAX * 2 ** (tries - 1)
