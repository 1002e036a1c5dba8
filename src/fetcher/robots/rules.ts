import { inSlices } from './in-slices.ts'
import { comparablePath, matches, parsePattern, type Pattern } from './pattern.ts'

/** Bytes of a robots.txt that are read: the least that RFC 9309 §2.5 lets a reader stop at. */
export const FILE_BYTES_MAX = 500 * 1024
/** Bytes of a line that is read. A URL has at most 8,192 characters, and three times as many with all of them encoded. */
const LINE_BYTES_MAX = 32 * 1024
/** Its byte would be trimmed, and in UTF-8 ends `à`. */
const NO_BREAK_SPACE = '\u{A0}'
const BYTE_ORDER_MARK = /^\u{EF}\u{BB}\u{BF}/u

/** What a robots.txt says of the paths that match a pattern. */
export interface Rule extends Pattern {
  readonly isAllow: boolean
}

/** The name that a robots.txt has for a program (RFC 9309 §2.2.1): its user agent up to the version, in lower case. */
export const productToken = (userAgent: string): string => /^[^\s/]*/.exec(userAgent.trim())?.[0].toLowerCase() ?? ''

/**
 * The rules for one program: those of all groups that name it, else those of all groups for `*` (RFC 9309 §2.2.1).
 * What is no rule is passed over, so that anything can be parsed, as are bytes past 500 KiB.
 * @param token as `productToken` gives it.
 * @throws the reason of the signal.
 */
export async function parseRules(body: Uint8Array, token: string, signal: AbortSignal): Promise<readonly Rule[]> {
  const named: Rule[] = []
  const general: Rule[] = []
  let isNamed = false
  let group = new Set<Rule[]>()
  let isStart = false
  for await (const [line] of inSlices(wholeLines(body).matchAll(/[^\r\n]+/g), signal)) {
    const { name, value } = parseLine(line)
    if (name === 'user-agent') {
      if (!isStart) group = new Set()
      isStart = true
      const agent = productToken(value)
      isNamed ||= agent === token
      if (agent === token) group.add(named)
      if (agent === '*') group.add(general)
    } else if (name === 'allow' || name === 'disallow') {
      isStart = false
      if (value === '') continue
      for (const rules of group) rules.push({ ...parsePattern(value), isAllow: name === 'allow' })
    }
  }
  return isNamed ? named : general
}

/**
 * Whether a URL may be fetched: the longest rule that matches decides, of two the one that allows, and without one it is
 * allowed (RFC 9309 §2.2.2).
 * @throws the reason of the signal.
 */
export async function isAllowed(rules: readonly Rule[], url: URL, signal: AbortSignal): Promise<boolean> {
  const path = comparablePath(url)
  let best: Rule | undefined
  for await (const rule of inSlices(rules, signal)) {
    if ((best === undefined || outranks(rule, best)) && matches(rule, path)) best = rule
  }
  return best?.isAllow ?? true
}

const outranks = (rule: Rule, other: Rule): boolean =>
  rule.octets === other.octets ? rule.isAllow && !other.isAllow : rule.octets > other.octets

/** The lines that are read, with a character for each byte, so that no encoding is damaged. */
function wholeLines(body: Uint8Array): string {
  const text = Buffer.from(body.subarray(0, FILE_BYTES_MAX)).toString('latin1').replace(BYTE_ORDER_MARK, '')
  if (body.byteLength <= FILE_BYTES_MAX) return text
  return text.slice(0, Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1) // Half a rule is another rule.
}

/** A line without a colon has no name. What names other than those of rules mean is not asked (RFC 9309 §2.2.4). */
function parseLine(line: string): { readonly name: string; readonly value: string } {
  const [record = ''] = line.length > LINE_BYTES_MAX ? [] : line.split('#', 1)
  const colon = record.indexOf(':')
  const name = record.slice(0, Math.max(colon, 0))
  const value = record.slice(colon + 1).replaceAll(NO_BREAK_SPACE, '%A0')
  return { name: name.trim().toLowerCase(), value: value.trim() }
}
