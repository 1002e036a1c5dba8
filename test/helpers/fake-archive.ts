import { createServer, type ServerResponse } from 'node:http'

import { serve } from './raw-server.ts'

/** What the archive holds of a URL at one time. */
export interface FakeCapture {
  /** 14 digits. */
  readonly at: string
  readonly url: string
  readonly status?: number
  readonly type?: string
  readonly body?: string | Buffer
  /** Where the page redirected to. */
  readonly location?: string
  readonly digest?: string
  /** How the index shows it, if not as it is: captures of the same bytes, for one, have neither type nor status. */
  readonly row?: { readonly status: string; readonly type: string }
}

type Service = 'available' | 'index' | 'capture'

/** Answers in the place of a service, or does not answer at all. @param url what is asked about. */
export type Fault = (response: ServerResponse, url: string) => void

/**
 * A web archive as the Wayback Machine is one: its availability service knows a URL only as it was captured, its index
 * knows pages whatever their scheme or `www`, and its captures answer as the site did, or redirect to the nearest time.
 */
export async function serveArchive(
  captures: readonly FakeCapture[],
  { faults = {}, host = '127.0.0.2' }: { faults?: Partial<Record<Service, Fault>>; host?: string } = {},
) {
  const requests: { readonly service: Service; readonly url: string; readonly path: string }[] = []
  const answers: Record<Service, Fault> = {
    available: (response, url) => sendAvailable(response, url, captures),
    index: (response, url) => sendIndex(response, url, captures),
    capture: (response, url) => sendCapture(response, url, captures),
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const { pathname, searchParams } = new URL(path, 'http://archive.invalid')
    const service =
      pathname === '/wayback/available' ? 'available' : pathname === '/cdx/search/cdx' ? 'index' : 'capture'
    const url = service === 'capture' ? path : (searchParams.get('url') ?? '')
    requests.push({ service, url, path })
    ;(faults[service] ?? answers[service])(response, url)
  })
  const served = await serve(server, { host })
  return {
    /** Every request it got. */
    requests,
    /** The services that were asked, in order. */
    get services() {
      return requests.map(({ service }) => service)
    },
    origin: served.origin,
    idle: () => served.idle(),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

/** Answers with a status, as an archive in trouble does. */
export const failing =
  (status: number, headers: Record<string, string> = {}, body = '<html><body>Sorry.</body></html>'): Fault =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body)

/** Answers with success, and with this body. */
export const saying = (body: string): Fault => failing(200, {}, body)

function sendAvailable(response: ServerResponse, url: string, captures: readonly FakeCapture[]): void {
  const newest = captures
    .filter((one) => one.url === url && (one.status ?? 200) === 200)
    .toSorted(byTime)
    .at(-1)
  const closest = newest && {
    status: '200',
    available: true,
    url: `http://web.archive.org/web/${newest.at}/${newest.url}`,
    timestamp: newest.at,
  }
  sendJson(response, { url, archived_snapshots: closest ? { closest } : {} })
}

function sendIndex(response: ServerResponse, url: string, captures: readonly FakeCapture[]): void {
  const rows = captures
    .filter((one) => keyOf(one.url) === keyOf(url) && (one.row !== undefined || (one.status ?? 200) === 200))
    .toSorted(byTime)
    .map(({ at, url: original, status = 200, type = 'text/html', digest = at, row }) => {
      return [at, original, row?.type ?? type, row?.status ?? String(status), digest]
    })
    .filter((row, index, all) => row[4] !== all[index - 1]?.[4])
    .slice(-20)
  sendJson(response, rows.length === 0 ? [] : [['timestamp', 'original', 'mimetype', 'statuscode', 'digest'], ...rows])
}

function sendCapture(response: ServerResponse, path: string, captures: readonly FakeCapture[]): void {
  const [, time = '', url = ''] = /^\/web\/(\d{14})id_\/(.*)$/.exec(path) ?? []
  const nearest = captures
    .filter((one) => keyOf(one.url) === keyOf(url))
    .toSorted((a, b) => Math.abs(Number(a.at) - Number(time)) - Math.abs(Number(b.at) - Number(time)))[0]
  if (nearest === undefined) {
    failing(404, { 'x-archive-wayback-runtime-error': `ResourceNotInArchiveException: ${url} was not found` })(
      response,
      '',
    )
  } else if (nearest.at !== time) {
    const location = `/web/${nearest.at}id_/${nearest.url}`
    response.writeHead(302, { location, 'x-archive-redirect-reason': `found capture at ${nearest.at}` }).end()
  } else {
    const { status = 200, type = 'text/html', body = '', location } = nearest
    const headers = { 'content-type': type, 'memento-datetime': new Date(Date.UTC(2020, 0)).toUTCString() }
    response
      .writeHead(status, location === undefined ? headers : { ...headers, location: `/web/${time}id_/${location}` })
      .end(body)
  }
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const byTime = (a: FakeCapture, b: FakeCapture) => a.at.localeCompare(b.at)

/** What the index files a URL under. */
const keyOf = (url: string) =>
  url
    .toLowerCase()
    .replace(/^https?:\/\/(?:www\.)?/, '')
    .replace(/\/$/, '')
