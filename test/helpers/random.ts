/** A source of chance that gives the same for the same seed. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number
  /** A whole number from `min` to `max`. */
  whole(min: number, max: number): number
  chance(probability: number): boolean
  /** One of a list, which has at least one item. */
  pick<T>(list: readonly T[]): T
  /** A name of the table, each as likely as its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K
  /** A waiting time of an event that comes every `mean` on average, whenever the last one was. */
  exponential(mean: number): number
  /** Another source, whose numbers do not depend on how often this one is asked. */
  fork(): Random
}

/** @param seed a whole number; its low 32 bits count. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  /** Weyl sequence, its terms mixed by a hash with good avalanche. */
  const next = () => {
    state = (state + 0x9e37_79b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0_aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    whole,
    chance: (probability) => next() < probability,
    pick<T>(list: readonly T[]) {
      if (list.length === 0) throw new RangeError('There is nothing to pick from.')
      return list[whole(0, list.length - 1)] as T
    },
    weighted<K extends string>(weights: Readonly<Record<K, number>>) {
      const names = Object.keys(weights) as K[]
      let left = next() * names.reduce((sum, name) => sum + weights[name], 0)
      return names.find((name) => (left -= weights[name]) < 0) ?? (names.at(-1) as K)
    },
    exponential: (mean) => -mean * Math.log(1 - next()),
    fork: () => createRandom(whole(0, 2 ** 32 - 1)),
  }
}
