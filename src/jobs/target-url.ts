import { URL_LENGTH_MAX } from './schema.ts'

export type UrlFault =
  | 'invalid-url'
  | 'invalid-host'
  | 'scheme'
  | 'control-character'
  | 'backslash'
  | 'credentials'
  | 'url-too-long'

/** One sentence each for the caller: what is wrong and what to send. */
export const URL_FAULTS: Readonly<Record<UrlFault, string>> = {
  'invalid-url': 'This is not an absolute URL; send one such as https://example.com/page.',
  'invalid-host': 'The host name breaks the rules of DNS; check its spelling, its dots and its length.',
  scheme: 'Only http and https URLs are fetched; put https:// in front of a bare host name.',
  'control-character': 'The URL holds a control character, such as a tab or a line break; remove it.',
  backslash: 'The URL holds a backslash; send a slash, or %5C where a backslash is meant.',
  credentials: 'The URL holds a user name or a password; send it without them.',
  'url-too-long': `The URL is longer than ${URL_LENGTH_MAX} characters after percent-encoding; send a shorter one.`,
}

const HOST_LENGTH_MAX = 253
/** Underscores and hyphens at the end of a label occur in names that resolve; a hyphen in front does not. */
const LABEL = /^[a-z0-9_][a-z0-9_-]{0,62}$/

/**
 * Reads the URL of a target, or the `Location` of a redirect from `base`. It looks at the syntax only: whether the
 * host may be reached is for the guard. White space around it is dropped; the fragment stays. Never throws.
 *
 * It is stricter than `new URL`: what other parsers read in another way is refused, not repaired.
 */
export function parseTargetUrl(raw: string, base?: URL): { readonly url: URL } | { readonly fault: UrlFault } {
  const text = raw.trim()
  const fault = faultOfText(text, base !== undefined)
  if (fault !== undefined) return { fault }
  const url = URL.parse(text, base?.href)
  if (url === null) return { fault: 'invalid-url' }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { fault: 'scheme' }
  // WHATWG drops an empty user name without a trace: `http://@example.com/`.
  if (url.username !== '' || url.password !== '' || /^(?:https?:)?\/\/[^/?#]*@/i.test(text)) {
    return { fault: 'credentials' }
  }
  if (!isHost(url.hostname)) return { fault: 'invalid-host' }
  if (url.href.length > URL_LENGTH_MAX) return { fault: 'url-too-long' }
  return { url }
}

function faultOfText(text: string, isRelativeAllowed: boolean): UrlFault | undefined {
  if (text === '' || !text.isWellFormed()) return 'invalid-url'
  if (text.length > URL_LENGTH_MAX) return 'url-too-long'
  // Not those of Latin-1: a `Location` in windows-1252 has them for quotation marks.
  if (/[\p{Cc}--[\x80-\x9f]]/v.test(text)) return 'control-character'
  if (text.includes('\\')) return 'backslash'
  // No slash, one slash or three: WHATWG finds a host in all of them, other parsers do not.
  if (/^https?:/i.test(text)) return /^https?:\/\/[^/]/i.test(text) ? undefined : 'invalid-url'
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return 'scheme'
  return isRelativeAllowed ? undefined : 'invalid-url'
}

/** @param hostname as `URL` gives it: in lower case and Punycode, numbers as a dotted quad, IPv6 in brackets. */
function isHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return true
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  return name.length <= HOST_LENGTH_MAX && name.split('.').every((label) => LABEL.test(label))
}
