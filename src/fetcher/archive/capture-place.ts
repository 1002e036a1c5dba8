/** Where a capture is found: its time as the archive writes it, and the URL it was taken of. */
export interface CapturePlace {
  /** 14 digits, from the year to the second, in UTC. */
  readonly timestamp: string
  readonly original: string
}

/** ISO 8601 for 14 digits; undefined for anything else, such as a 31st of February. */
export function isoTime(timestamp: string): string | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(timestamp)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second] = match
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
  const time = Date.parse(text)
  return Number.isNaN(time) || new Date(time).toISOString() !== text ? undefined : text
}

/** Address of the bytes of a capture as they were received, without anything the archive adds. */
export function captureUrl(root: string, { timestamp, original }: CapturePlace): string {
  return `${root}/web/${timestamp}id_/${original}`
}

/** Reads the address of a capture, with or without a modifier such as `id_`; undefined for another address. */
export function parseCaptureUrl(url: string): CapturePlace | undefined {
  const match = /^https?:\/\/[^/]+(?:\/[^?#]*?)??\/web\/(\d{14})(?:[a-z]{2}_)?\/(.+)$/i.exec(url)
  const [, timestamp = '', original = ''] = match ?? []
  return isoTime(timestamp) !== undefined && URL.canParse(original) ? { timestamp, original } : undefined
}

/**
 * Whether two URLs are one page to an archive, which does not tell apart schemes, `www`, ports, letter case, what is
 * percent-encoded, the order of a query, or a slash at the end.
 */
export function isSamePage(one: string, other: string): boolean {
  const key = pageKey(one)
  return key !== undefined && key === pageKey(other)
}

function pageKey(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return undefined
  const host = url.hostname.replace(/^www\d*\./, '').replace(/\.$/, '')
  const query = url.search.slice(1).split('&').toSorted().join('&')
  return unescaped(`${host}${url.pathname.replace(/\/+$/, '')}?${query}`).toLowerCase()
}

/** Bytes for characters: what is encoded need not be UTF-8. */
const unescaped = (text: string) =>
  text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
