import { countEndings } from './endings.ts'
import type { History } from './history.ts'
import { targetsOf } from './targets.ts'

/** Codes in one line of the summary. */
const CODES_A_LINE = 6

/** What happened, in a few lines. @param ms milliseconds that the run took. */
export function summary(history: History, ms: number): string {
  const { asked, submissions, jobs, lives, requests, settings } = history
  const outcomes = targetsOf(history).flatMap(({ outcome }) => outcome ?? [])
  const byCode = Object.entries(Object.groupBy(outcomes, ({ error }) => error ?? 'done'))
    .map(([code, own = []]) => [code, own.length] as const)
    .toSorted(([, one], [, other]) => other - one)
    .map(([code, count]) => `${code} ${count}`)
  const lines = byCode.flatMap((_, index) =>
    index % CODES_A_LINE === 0 ? [`  ${byCode.slice(index, index + CODES_A_LINE).join(', ')}`] : [],
  )
  const statuses = [...jobs.values()].map(({ views }) => {
    const last = views.at(-1)
    return last?.error ?? last?.status ?? 'unseen'
  })
  const byStatus = Object.entries(Object.groupBy(statuses, (status) => status)).map(
    ([status, own = []]) => `${status} ${own.length}`,
  )
  const { total, own, late, kinds } = countEndings(history)
  const reads = asked.filter(({ method, status }) => method === 'GET' && status !== undefined)
  const refused = submissions.filter(({ problem }) => problem !== undefined)
  return [
    `seed ${settings.seed}, ${Math.round(ms / 1_000)} s, lease ${settings.leaseMs / 1_000} s`,
    `submissions: ${submissions.length} (reused ${submissions.filter(({ reused }) => reused).length}, refused ${refused.length}, unanswered ${submissions.filter(({ isAnswered }) => !isAnswered).length})`,
    `reads: ${reads.length}, cancels: ${asked.filter(({ method }) => method === 'DELETE').length}`,
    `jobs: ${jobs.size} (${byStatus.join(', ')})`,
    `outcomes: ${total} (${own} as their kind should, ${late} too late)`,
    ...lines,
    `kinds of targets: ${kinds.length} (${kinds.filter((kind) => kind.total > 0).length} came up, ${kinds.filter((kind) => kind.own > 0).length} ended as they should)`,
    `processes: ${lives.length}, kills: ${lives.filter(({ isKilled }) => isKilled).length}, terms: ${lives.filter(({ signal }) => signal === 'term').length}`,
    `requests at the lab: ${requests.length}`,
    '',
  ].join('\n')
}
