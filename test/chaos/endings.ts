import type { History } from './history.ts'
import { type TargetHistory, targetsOf } from './targets.ts'

/** Whatever a target is, it may end as one of these if it takes too long. */
const TOO_LATE: ReadonlySet<string> = new Set(['timeout', 'filter_timeout'])

/** How the targets of one kind ended. */
interface KindEndings {
  readonly name: string
  /** Targets whose outcome was told. */
  readonly total: number
  /** Those of them that ended as their kind should. */
  readonly own: number
}

/** How the targets of a run ended, by the outcomes that were told. */
export interface Endings {
  readonly total: number
  readonly own: number
  readonly late: number
  /** Every kind there is, in the order of the settings. */
  readonly kinds: readonly KindEndings[]
}

/**
 * How a target ended: `own` as its kind should, `late` as what takes too long does. Undefined if nobody was told its
 * outcome.
 */
export function endingOf({ outcome, expectation }: TargetHistory): 'own' | 'late' | 'other' | undefined {
  if (outcome === undefined) return undefined
  const code = outcome.error ?? 'done'
  if (code === expectation?.outcome) return 'own'
  return TOO_LATE.has(code) ? 'late' : 'other'
}

export function countEndings(history: History): Endings {
  const ended = targetsOf(history).filter(({ outcome }) => outcome !== undefined)
  const count = (targets: readonly TargetHistory[], ending: 'own' | 'late') =>
    targets.filter((target) => endingOf(target) === ending).length
  const byKind = Map.groupBy(ended, ({ expectation }) => expectation?.name)
  const names = new Set(history.settings.expectations.map(({ name }) => name)) // Some are spelt in several ways.
  return {
    total: ended.length,
    own: count(ended, 'own'),
    late: count(ended, 'late'),
    kinds: [...names].map((name) => {
      const targets = byKind.get(name) ?? []
      return { name, total: targets.length, own: count(targets, 'own') }
    }),
  }
}
