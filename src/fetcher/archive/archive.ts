import type { Clock } from '../../clock.ts'
import { TargetError } from '../../jobs/target-error.ts'
import { raceAbort } from '../../race-abort.ts'
import type { IsPublicUrl } from '../network/public-url.ts'
import type { FetchedResponse } from '../network/response.ts'
import { ArchiveError, notAsked } from './archive-error.ts'
import { type Ask, type AskOptions, badAnswer, createAsk, inTime, isCapture, noAnswer } from './ask.ts'
import { captureUrl, isoTime, isSamePage, parseCaptureUrl } from './capture-place.ts'
import { INDEX_FIELDS, type Listing, readAvailability, readIndex } from './listings.ts'

/** Captures of one page that are fetched. */
const CAPTURES_MAX = 3
/** Rows of the index that are asked for. */
const ROWS_MAX = 20
/** Bytes of a list of captures. */
const LIST_BYTES_MAX = 262_144
/** Milliseconds for all that is asked about one page, and for each of the questions that are answered fast or not at all. */
const PAGE_MS_MAX = 40_000
const QUICK_MS_MAX = 10_000

export interface ArchiveOptions extends AskOptions {
  /** Where the services of the archive are, such as `https://web.archive.org`. */
  readonly archiveUrl: string
  /** Decides what may be told to the archive. */
  readonly isPublic: IsPublicUrl
  /** Milliseconds for all that is asked about one page. */
  readonly timeMsMax?: number
}

/** A copy of a page, as the archive received it. */
interface Capture {
  /** Address of the copy in the archive. */
  readonly url: string
  /** When it was taken, in ISO 8601. */
  readonly capturedAt: string
  readonly response: FetchedResponse
}

export interface Archive {
  /** Its host, and its port if it has one of its own. */
  readonly host: string
  /**
   * Fetches copies of a page, the newest first, each when it is asked for: at most 3, without those that say that the
   * page was not there, or somewhere else. A fragment is never sent.
   * @throws {ArchiveError} for a page that is not public, of which nothing is sent; and if there may be more copies, but
   * the archive does not answer.
   */
  captures(page: string, signal: AbortSignal): AsyncGenerator<Capture, void, undefined>
}

/** A web archive with the three services of the Wayback Machine: availability, the CDX index, and captures. */
export function createArchive(options: ArchiveOptions): Archive {
  const { archiveUrl, isPublic, clock, timeMsMax = PAGE_MS_MAX } = options
  const root = archiveUrl.replace(/\/+$/, '')
  const ask = createAsk(options)

  return {
    host: new URL(root).host,
    async *captures(page, signal) {
      const search = { root, page: withoutFragment(page), ask, clock, endsAt: clock.now() + timeMsMax, signal }
      const mayBeSent = await inTime(QUICK_MS_MAX, clock, signal, (limited) =>
        raceAbort(isPublic(search.page), limited),
      )
      if (!mayBeSent) throw privatePage()
      yield* fetchCaptures(search)
    },
  }
}

/** What is asked for one page. */
interface Search {
  readonly root: string
  readonly page: string
  readonly ask: Ask
  readonly clock: Clock
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number
  readonly signal: AbortSignal
}

async function* fetchCaptures(search: Search): AsyncGenerator<Capture, void, undefined> {
  let missed: ArchiveError | undefined
  let count = 0
  for await (const listing of findListings(search)) {
    if (count === CAPTURES_MAX) break
    count += 1
    try {
      const capture = await fetchCapture(search, listing)
      if (capture !== undefined) yield capture
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error
      missed = error
    }
  }
  if (missed !== undefined) throw missed
}

/** The index is only asked if the newest capture is not enough: it takes its time. */
async function* findListings(search: Search): AsyncGenerator<Listing, void, undefined> {
  const newest = await findNewest(search)
  if (newest !== undefined) yield newest
  for (const listing of await findAll(search)) if (listing.timestamp !== newest?.timestamp) yield listing
}

/** What the quick service knows. It knows nothing of many captures, by the scheme of the URL, and it has a second way. */
async function findNewest({ root, page, ask, clock, endsAt, signal }: Search): Promise<Listing | undefined> {
  const url = `${root}/wayback/available?url=${encodeURIComponent(page)}`
  try {
    const response = await ask(url, Math.min(QUICK_MS_MAX, endsAt - clock.now()), signal)
    return response.status === 200 ? readAvailability(parseList(response), page) : undefined
  } catch (error) {
    if (!(error instanceof ArchiveError || error instanceof TargetError)) throw error
    return undefined
  }
}

/** @throws {ArchiveError} */
async function findAll({ root, page, ask, clock, endsAt, signal }: Search): Promise<Listing[]> {
  const query = new URLSearchParams({
    url: page,
    matchType: 'exact', // Or else a star at the end of the URL would mean all pages below it.
    output: 'json',
    fl: INDEX_FIELDS.join(','),
    filter: 'statuscode:200',
    collapse: 'digest',
    limit: String(-ROWS_MAX), // The newest ones.
  })
  const response = await ask(`${root}/cdx/search/cdx?${query.toString()}`, endsAt - clock.now(), signal).catch(
    (error: unknown) => {
      throw error instanceof TargetError ? noAnswer(error) : error
    },
  )
  if (isExcluded(response)) return []
  if (response.status !== 200) throw badAnswer(response)
  if (response.body.byteLength === 0) return []
  const listings = readIndex(parseList(response), page)
  if (listings === undefined) throw notAsked('its answer is not a list of copies')
  return listings
}

/**
 * A capture with its original bytes; undefined if it is no good copy.
 * @throws {ArchiveError} if the archive fails to give it.
 */
async function fetchCapture(search: Search, listing: Listing): Promise<Capture | undefined> {
  const { root, ask, clock, endsAt, signal } = search
  const response = await ask(captureUrl(root, listing), endsAt - clock.now(), signal).catch((error: unknown) => {
    if (error instanceof TargetError) return undefined
    throw error
  })
  if (response === undefined) return undefined
  if (response.status >= 500 && !isCapture(response)) throw badAnswer(response)
  const url = withoutFragment(response.url)
  const place = isWithin(root, url) ? parseCaptureUrl(url) : undefined
  // The archive redirects to the nearest time, and as the site once did to other pages.
  if (place === undefined || !isSamePage(place.original, listing.original)) return undefined
  const capturedAt = isoTime(place.timestamp)
  if (response.status !== 200 || response.body.byteLength === 0 || capturedAt === undefined) return undefined
  return { url, capturedAt, response }
}

/** The value of a JSON answer, or undefined: an archive in trouble answers with a page. */
function parseList({ body }: FetchedResponse): unknown {
  if (body.byteLength > LIST_BYTES_MAX) return undefined
  try {
    return JSON.parse(Buffer.from(body).toString())
  } catch {
    return undefined
  }
}

/** Whether the archive keeps the page from being read, by the wish of its owner: it is there, but there are no copies. */
function isExcluded({ status, headers, body }: FetchedResponse): boolean {
  const text = `${headers['x-archive-wayback-runtime-error'] ?? ''} ${Buffer.from(body.subarray(0, 1_000)).toString()}`
  return status === 403 && text.includes('AccessControlException')
}

/** Whether a URL leads to the host of the archive, or one below it. */
function isWithin(root: string, url: string): boolean {
  return `.${new URL(url).hostname}`.endsWith(`.${new URL(root).hostname}`)
}

function withoutFragment(text: string): string {
  const url = new URL(text)
  url.hash = ''
  return url.href
}

const privatePage = () =>
  new ArchiveError('it is not looked up in an archive, since its URL is not public', {
    hint: 'Only URLs that all the world can ask for are sent to a web archive; fetch this one when its server answers.',
  })
