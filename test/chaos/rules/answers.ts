import type { Asked, History } from '../history.ts'
import { downtimes, line, type Rule } from './rule.ts'

/** Every answer there may be, by what was asked. With 4xx and 5xx the codes. */
const ALLOWED = {
  submit: [
    '200',
    '202',
    '422 validation_failed',
    '422 too_many_targets',
    '429 caller_busy',
    '429 jobs_busy',
    '503 programs_unchecked',
    '503 shutting_down',
  ],
  job: ['200', '304', '404 job_not_found'],
  target: ['200', '404 job_not_found', '404 target_not_found', '409 no_content'],
  results: ['200', '404 job_not_found'],
  cancel: ['200', '404 job_not_found', '409 job_finished'],
  list: ['200'],
} as const

/** Each request is answered as the contract has it, unless the service is about to end, or has ended. */
export const answers: Rule = function* (history) {
  const { asked } = history
  const down = downtimes(history)
  const isExcused = ({ sentAt, at }: Asked) => down.some(({ from, to }) => from <= at && sentAt <= to)
  for (const request of asked) {
    const { caller, method, path, status, code, broken, isReadable } = request
    const what = `${caller}: ${method} ${path} ${line(request)}`
    if (broken === 'left') continue
    if (broken !== undefined && !isExcused(request)) yield `${what} was not answered to the end: ${broken}`
    if (status === undefined) continue
    const answer = code === undefined ? `${status}` : `${status} ${code}`
    if (!(ALLOWED[kindOf(request)] as readonly string[]).includes(answer)) yield `${what} was answered ${answer}`
    if (code === 'shutting_down' && !isExcused(request)) yield `${what} was refused though the service was not stopping`
    if (code === 'target_not_found' && hasTarget(path, history)) yield `${what} found no target that there is`
    if (!isReadable) yield `${what} was answered with a body that is no JSON`
  }
}

function kindOf({ method, path }: Asked): keyof typeof ALLOWED {
  const [, , id, part] = new URL(path, 'http://service').pathname.split('/')
  if (method === 'POST') return 'submit'
  if (method === 'DELETE') return 'cancel'
  if (id === undefined) return 'list'
  if (part === 'results') return 'results'
  return part === undefined ? 'job' : 'target'
}

function hasTarget(path: string, { jobs }: History): boolean {
  const [, , id = '', , idx] = path.split('/')
  return Number(idx) < (jobs.get(id)?.urls.length ?? 0)
}

/** A job is shown to the caller who submitted it, and to no other. */
export const ownJobsOnly: Rule = function* ({ jobs }: History) {
  for (const { id, callers, stored } of jobs.values()) {
    if (callers.size > 1) yield `job ${id} was shown to ${[...callers].join(' and ')}`
    const [owner] = callers
    if (stored && owner !== undefined && stored.caller !== `id:${owner}`) {
      yield `job ${id} of ${owner} is stored for ${stored.caller}`
    }
  }
}
