import type { History } from './history.ts'
import type { Entry, Hit } from './log.ts'
import { readHistory } from './read-history.ts'
import { answers, ownJobsOnly } from './rules/answers.ts'
import { inOrder, nothingForbidden, oneAtATime, onlyInFlight, rightOutcome, rightTries } from './rules/lab.ts'
import { cancels, leaseArithmetic, restarts, storedAsTold, thereUntilExpiry, wholeList } from './rules/lease.ts'
import { eventful, honestClock, orderlyExits } from './rules/processes.ts'
import type { Rule } from './rules/rule.ts'
import { capsKept, fairRefusals, idempotent } from './rules/submissions.ts'
import { countsAddUp, linesInOrder, oneOutcome, onlyForward } from './rules/views.ts'

/** Every promise that a run is held to, by name. */
const RULES = {
  eventful,
  honestClock,
  answers,
  ownJobsOnly,
  countsAddUp,
  onlyForward,
  oneOutcome,
  linesInOrder,
  rightOutcome,
  onlyInFlight,
  inOrder,
  rightTries,
  oneAtATime,
  nothingForbidden,
  idempotent,
  capsKept,
  fairRefusals,
  leaseArithmetic,
  thereUntilExpiry,
  wholeList,
  restarts,
  cancels,
  storedAsTold,
  orderlyExits,
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof RULES

/** A sentence that says what contradicts which promise, and where the logs say so. */
export interface Violation {
  readonly rule: RuleName
  readonly says: string
}

type Lines<T> = AsyncIterable<T> | Iterable<T>

/**
 * Reads what the callers and the lab wrote down and holds it against every rule. It knows the service by these logs
 * alone.
 */
export async function check(
  entries: Lines<Entry>,
  hits: Lines<Hit>,
): Promise<{ readonly history: History; readonly violations: readonly Violation[] }> {
  const history = await readHistory(entries, hits)
  const names = Object.keys(RULES) as RuleName[]
  const violations = names.flatMap((rule) => [...RULES[rule](history)].map((says) => ({ rule, says })))
  return { history, violations }
}
