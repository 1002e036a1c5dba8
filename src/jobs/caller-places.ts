/** The most places there are. */
export interface PlaceBounds {
  /** For all callers together. */
  readonly totalMax: number
  /** For one caller, so that there is room for others. */
  readonly perCallerMax: number
}

/** Places for what requests hold on to, bounded in all and for each caller. */
export interface CallerPlaces {
  /** Which bound leaves the caller no place: its own, or that of all together. Undefined while there is one. */
  full(caller: string): 'caller' | 'total' | undefined
  /**
   * Takes a place, which there must be.
   * @returns gives it back. To be called once.
   */
  take(caller: string): () => void
}

export function createCallerPlaces({ totalMax, perCallerMax }: PlaceBounds): CallerPlaces {
  const byCaller = new Map<string, number>()
  let total = 0

  const taken = (caller: string) => byCaller.get(caller) ?? 0

  function add(caller: string, change: 1 | -1): void {
    const own = taken(caller) + change
    if (own === 0) byCaller.delete(caller)
    else byCaller.set(caller, own)
    total += change
  }

  return {
    full(caller) {
      if (taken(caller) >= perCallerMax) return 'caller'
      return total >= totalMax ? 'total' : undefined
    },
    take(caller) {
      add(caller, 1)
      return () => add(caller, -1)
    },
  }
}
