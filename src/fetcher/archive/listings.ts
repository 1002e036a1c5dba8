import { member } from '../member.ts'
import { type CapturePlace, isoTime, isSamePage, parseCaptureUrl } from './capture-place.ts'

/** A capture that the archive lists. */
export interface Listing extends CapturePlace {
  /** Equal for captures with equal bytes; undefined where the archive does not tell. */
  readonly digest: string | undefined
}

/** What a page cannot be. Anything else is left to the conversion. */
const NOT_PAGES = /^(?:audio|font|image|video)\//

/** Columns that are asked for. */
export const INDEX_FIELDS = ['timestamp', 'original', 'mimetype', 'statuscode', 'digest'] as const

/** Reads what the availability service says of a page; undefined if it knows no good capture, or says nothing usable. */
export function readAvailability(answer: unknown, page: string): Listing | undefined {
  const closest = member(member(answer, 'archived_snapshots'), 'closest')
  const url = member(closest, 'url')
  if (member(closest, 'available') !== true || String(member(closest, 'status')) !== '200') return undefined
  const place = typeof url === 'string' ? parseCaptureUrl(url) : undefined
  return place !== undefined && isSamePage(place.original, page) ? { ...place, digest: undefined } : undefined
}

/**
 * Reads rows of the index, the first of which names the columns. Gives the captures of the page that may be good copies,
 * newest first, one for each content. Undefined if this is no list of rows.
 */
export function readIndex(answer: unknown, page: string): Listing[] | undefined {
  if (!Array.isArray(answer) || !answer.every((row) => Array.isArray(row))) return undefined
  const [columns = [], ...rows] = answer as unknown[][]
  const places = INDEX_FIELDS.map((field) => columns.indexOf(field))
  const listings = rows.flatMap(
    (row) =>
      listingOf(
        places.map((place) => row[place]),
        page,
      ) ?? [],
  )
  const newestFirst = listings.toSorted((a, b) => b.timestamp.localeCompare(a.timestamp))
  return [...Map.groupBy(newestFirst, ({ digest, timestamp }) => digest ?? timestamp).values()].flatMap(
    ([newest]) => newest ?? [],
  )
}

/** @param row in the order of `INDEX_FIELDS`. */
function listingOf(row: readonly unknown[], page: string): Listing | undefined {
  const [timestamp, original, mediaType, status, digest] = row.map((cell) => (typeof cell === 'string' ? cell : ''))
  if (timestamp === undefined || isoTime(timestamp) === undefined) return undefined
  if (original === undefined || !/^https?:\/\//i.test(original) || !isSamePage(original, page)) return undefined
  // A capture with the bytes of an earlier one has a media type of its own and no status; what it answers will tell.
  if (status !== '200' && mediaType !== 'warc/revisit') return undefined
  if (mediaType !== undefined && NOT_PAGES.test(mediaType)) return undefined
  return { timestamp, original, digest: digest === '' || digest === '-' ? undefined : digest }
}
