/** The beginning of marked content in a page's stream. */
export interface ContentMark {
  readonly tag: string
  /** What the marked content says in letters; empty if it says nothing. */
  readonly actualText: string | undefined
}

/** Strings, comments, brackets of dictionaries, names and words, one at a time. */
const TOKEN = /\((?:[^()\\]|\\[\s\S])*|%[^\r\n]*|<<|>>|<[\da-fA-F\s]*>|\/[^\s()<>[\]{}/%]*|[^\s()<>[\]{}/%]+/g
/** Tokens that are kept of the operands of one operator. */
const OPERANDS_MAX = 200

/** Lists where marked content begins, in the order of the stream. Strings are skipped, whatever they hold. */
export function contentMarks(content: string): ContentMark[] {
  const marks: ContentMark[] = []
  const tokens = new RegExp(TOKEN)
  let operands: string[] = []
  for (let token = tokens.exec(content); token !== null; token = tokens.exec(content)) {
    let [text] = token
    if (text.startsWith('(')) {
      text = content.slice(token.index, stringEnd(content, token.index))
      tokens.lastIndex = token.index + text.length
    }
    if (text.startsWith('%')) continue
    if (text === 'BDC' || text === 'BMC') marks.push(toMark(operands))
    if (/^[A-Za-z'"]/.test(text)) operands = []
    else if (operands.length < OPERANDS_MAX) operands.push(text)
  }
  return marks
}

/** After the bracket that closes the string at `start`. */
function stringEnd(content: string, start: number): number {
  let depth = 0
  for (let at = start; at < content.length; at += 1) {
    const character = content[at]
    if (character === '\\') at += 1
    else if (character === '(') depth += 1
    else if (character === ')') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return content.length
}

function toMark(operands: readonly string[]): ContentMark {
  const [tag = ''] = operands
  const at = operands.lastIndexOf('/ActualText')
  const value = at === -1 ? undefined : operands[at + 1]
  return { tag: tag.slice(1), actualText: value === undefined ? undefined : textString(value) }
}

/** A text string of PDF: in UTF-16 with a mark, or, near enough, in Latin-1. */
function textString(token: string): string | undefined {
  const bytes = token.startsWith('<') ? fromHex(token) : fromLiteral(token)
  if (bytes === undefined) return undefined
  const isWide = bytes.length >= 2 && bytes[0] === 0xfe && bytes[1] === 0xff
  return isWide ? new TextDecoder('utf-16be').decode(bytes) : bytes.toString('latin1')
}

const fromHex = (token: string): Buffer => Buffer.from(token.replaceAll(/[^\da-fA-F]/g, ''), 'hex')

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

function fromLiteral(token: string): Buffer | undefined {
  if (!token.startsWith('(')) return undefined
  const text = token.slice(1, -1).replaceAll(/\\(?:([0-7]{1,3})|\r?\n|([\s\S]))/g, (_all, octal, character) => {
    if (typeof octal === 'string') return String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
    return typeof character === 'string' ? (ESCAPES[character] ?? character) : ''
  })
  return Buffer.from(text, 'latin1')
}
