import type { JobList, JobSummary, JobView, TargetView } from '../../src/jobs/schema.ts'
import { getOrAdd } from './get-or-add.ts'
import type {
  Asked,
  BareContent,
  History,
  JobHistory,
  Life,
  Lines,
  Listing,
  Outcome,
  Problem,
  Request,
  Submission,
  TargetSeen,
  View,
} from './history.ts'
import type { Entry, Exchange, Hit, ProcessEvent, Settings, StoredJob } from './log.ts'
import { parse } from './parse.ts'
import { keyOf, optionsOf, readSent } from './sent.ts'

/** Reads both logs to their end. @throws {Error} if the first entry is not the settings. */
export async function readHistory(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  hits: AsyncIterable<Hit> | Iterable<Hit>,
): Promise<History> {
  const reader = createReader()
  const events: ProcessEvent[] = []
  const touches: History['touches'][number][] = []
  const ticks: History['ticks'][number][] = []
  let settings: Settings | undefined
  let integrity: string | undefined
  let line = 0
  for await (const entry of entries) {
    line += 1
    switch (entry.kind) {
      case 'settings':
        settings = entry
        break
      case 'exchange':
        reader.read(entry, line)
        break
      case 'process':
        events.push(entry)
        break
      case 'stored':
        reader.keep(entry)
        break
      case 'touch':
        touches.push(entry)
        break
      case 'tick':
        ticks.push(entry)
        break
      case 'integrity':
        integrity = entry.verdict
        break
    }
  }
  if (settings === undefined) throw new Error('The log has no settings.')
  const lives = toLives(events)
  return { settings, ...reader.told, lives, requests: await toRequests(hits), touches, ticks, integrity }
}

/** Takes exchanges apart into what they tell. */
function createReader() {
  const jobs = new Map<string, JobHistory>()
  const told = {
    jobs,
    asked: [] as Asked[],
    submissions: [] as Submission[],
    lines: [] as Lines[],
    listings: [] as Listing[],
    bareContents: [] as BareContent[],
  }
  /** One copy of each outcome, however often it is told. */
  const outcomes = new Map<string, Outcome>()

  function job(id: string): JobHistory {
    const known = jobs.get(id)
    if (known !== undefined) return known
    const added: JobHistory = {
      id,
      callers: new Set<string>(),
      views: [],
      tellings: [],
      urls: [],
      options: undefined,
      stored: undefined,
    }
    jobs.set(id, added)
    return added
  }

  function outcomeOf(target: TargetView, hasResult: boolean): Outcome | undefined {
    const { idx, status, error, message, result } = target
    if (status === 'pending') return undefined
    const text = JSON.stringify(target)
    const outcome = {
      idx,
      status,
      error,
      message,
      content: result?.content,
      text,
      hasResult,
    }
    return getOrAdd(outcomes, `${hasResult} ${text}`, outcome)
  }

  function seeTarget(target: TargetView, { line, sentAt, at }: Asked, id: string, hasResult: boolean): TargetSeen {
    const outcome = outcomeOf(target, hasResult)
    if (outcome) job(id).tellings.push({ line, sentAt, at, outcome })
    const { url, idx, status } = target
    return { url, idx, status, outcome, isConsistent: isConsistent(target, hasResult) }
  }

  function seeJob(body: JobView | JobSummary, asked: Asked, hasResult: boolean): View {
    const { line, caller, sentAt, at } = asked
    const history = job(body.id)
    history.callers.add(caller)
    const targets =
      'targets' in body ? body.targets.map((target) => seeTarget(target, asked, body.id, hasResult)) : undefined
    const view = {
      line,
      caller,
      sentAt,
      at,
      status: body.status,
      error: body.error,
      total: body.targets_total,
      done: body.targets_done,
      failed: body.targets_failed,
      createdAt: Date.parse(body.created_at),
      finishedAt: body.finished_at === undefined ? undefined : Date.parse(body.finished_at),
      expiresAt: Date.parse(body.expires_at),
      targets,
    }
    history.views.push(view)
    if (targets && history.urls.length === 0) history.urls = targets.map(({ url }) => url)
    return view
  }

  function readSubmission(asked: Asked, { caller, headers, sent = '' }: Exchange, body: unknown): void {
    const wanted = readSent(sent, headers?.['content-type'])
    const view = isAnswer(asked) ? (body as JobView) : undefined
    if (view) {
      seeJob(view, asked, true)
      job(view.id).options ??= wanted && optionsOf(wanted)
    }
    told.submissions.push({
      ...asked,
      key: wanted && `${caller} ${keyOf(wanted)}`,
      reuse: wanted?.reuse ?? true,
      isAnswered: asked.status !== undefined && asked.broken === undefined,
      urls: wanted?.targets.map(({ url }) => url) ?? [],
      id: view?.id,
      reused: view?.reused,
      problem: view ? undefined : (body as Problem | undefined),
    })
  }

  function readLines(asked: Asked, answer: string, id: string, query: URLSearchParams): void {
    const rows = asked.status === 200 ? completeLines(answer) : []
    const targets = rows.map((row) => seeTarget(JSON.parse(row) as TargetView, asked, id, true))
    const from = Number(query.get('from') ?? 0)
    told.lines.push({ ...asked, id, from, isFollowed: query.has('follow'), idxs: targets.map(({ idx }) => idx) })
  }

  function readList(asked: Asked, body: JobList, query: URLSearchParams): void {
    for (const summary of body.jobs) seeJob(summary, asked, false)
    const ids = body.jobs.map(({ id }) => id)
    told.listings.push({ ...asked, ids, isLastPage: body.next === undefined, after: query.get('after') ?? undefined })
  }

  return {
    told,
    keep(stored: StoredJob): void {
      const history = job(stored.id)
      history.stored = stored
      if (history.urls.length === 0) history.urls = stored.urls
    },
    read(exchange: Exchange, line: number): void {
      const { kind: _, sent: _sent, answer = '', ...rest } = exchange
      const url = new URL(exchange.path, 'http://service')
      const [, , id, part, idx] = url.pathname.split('/')
      const isJson = rest.status !== undefined && rest.broken === undefined && !isBare(exchange, part)
      const body = isJson ? parse(answer) : undefined
      const code = (rest.status ?? 0) >= 400 ? (body as Problem | undefined)?.code : undefined
      const asked: Asked = { ...rest, line, code, isReadable: !isJson || body !== undefined }
      told.asked.push(asked)
      if (id !== undefined && isShown(asked)) job(id).callers.add(asked.caller)
      if (exchange.method === 'POST') readSubmission(asked, exchange, body)
      else if (part === 'results' && id !== undefined) readLines(asked, answer, id, url.searchParams)
      else if (!isAnswer(asked) || asked.status === 304) return
      else if (id !== undefined && body === undefined && asked.isReadable)
        told.bareContents.push({ ...asked, id, idx: Number(idx), content: answer })
      else if (body === undefined) return
      else if (id === undefined) readList(asked, body as JobList, url.searchParams)
      else if (part === undefined) seeJob(body as JobView, asked, url.searchParams.get('view') !== 'summary')
      else if (part === 'targets') seeTarget(body as TargetView, asked, id, true)
    },
  }
}

/** Whether an answer is no JSON by design. */
const isBare = ({ status, headers }: Exchange, part: string | undefined): boolean =>
  status === 304 || (status === 200 && (part === 'results' || headers?.accept === 'text/plain'))

const isAnswer = ({ status, broken }: Asked): boolean =>
  broken === undefined && status !== undefined && status >= 200 && status < 300

/** Whether the answer gives away that there is such a job. */
const isShown = ({ status }: Asked): boolean => status !== undefined && (status < 400 || status === 409)

/** What a target has beside its head: content if and only if it is done, a reason if and only if it failed. */
function isConsistent({ status, result, error, message, hint }: TargetView, hasResult: boolean): boolean {
  const reasons = [error, message, hint].filter((field) => field !== undefined).length
  return (result !== undefined) === (hasResult && status === 'done') && reasons === (status === 'failed' ? 3 : 0)
}

/** Without a last one that was cut off. */
const completeLines = (text: string): string[] => text.split('\n').slice(0, -1)

function toLives(events: readonly ProcessEvent[]): Life[] {
  const byLife = Map.groupBy(events, ({ life }) => life)
  return [...byLife].map(([number, own]) => {
    const at = (...names: ProcessEvent['event'][]) => own.find(({ event }) => names.includes(event))
    const signal = at('kill', 'term')
    const exit = at('exit')
    return {
      number,
      startAt: at('start')?.at ?? -Infinity,
      upAt: at('up')?.at ?? Infinity,
      signal: signal?.event === 'kill' || signal?.event === 'term' ? signal.event : undefined,
      signalAt: signal?.at ?? Infinity,
      isKilled: at('kill') !== undefined,
      exitAt: exit?.at ?? Infinity,
      code: exit?.code,
    }
  })
}

/** Puts the end of each request beside its start: of several for one path, the first to come is the first to end. */
async function toRequests(hits: AsyncIterable<Hit> | Iterable<Hit>): Promise<Request[]> {
  const requests: Request[] = []
  const open = new Map<string, Request[]>()
  for await (const { behaviour, path, at, event } of hits) {
    const waiting = getOrAdd(open, `${behaviour} ${path}`, [])
    if (event === 'end') {
      const request = waiting.shift()
      if (request) request.endAt = at
      continue
    }
    const request = { behaviour, path, at, endAt: Infinity }
    requests.push(request)
    waiting.push(request)
  }
  return requests
}
