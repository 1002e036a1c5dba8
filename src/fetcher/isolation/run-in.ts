import type { TaskChild } from './child-process.ts'
import type { Answer, TaskName, Tasks } from './tasks.ts'
import { within } from './within.ts'

/** How a child was lost: its task took too long, or it died (of too much memory, most likely). */
export type Lost = 'late' | 'dead'

/** A task that has ended. A lost child is dead, or must be ended. */
export type Ended<Output> = Answer<Output> | { readonly lost: Lost }

/** Runs a task in a child that is up, within `timeMsMax` milliseconds. */
export function runIn<Name extends TaskName>(
  child: TaskChild,
  name: Name,
  input: Tasks[Name]['input'],
  timeMsMax: number,
  onPart?: (part: Tasks[Name]['part']) => void,
): Promise<Ended<Tasks[Name]['output']>> {
  // A child sends what it throws; a rejection tells that it is dead.
  const answer = child.run(name, input, onPart).catch((): { lost: Lost } => ({ lost: 'dead' }))
  return within<Ended<Tasks[Name]['output']>>(timeMsMax, answer, () => ({ lost: 'late' }))
}
