/** Gets the parts of an RTF document in their order. */
export interface RtfReader {
  openGroup(): void
  closeGroup(): void
  /** A control word with its number, or a control symbol such as `*` or `~`. */
  control(word: string, value: number | undefined): void
  /** Bytes of text, as Latin-1. */
  text(bytes: string): void
}

const WORD = /([A-Za-z]{1,32})(-?\d{1,10})? ?/y
const HEX = /'([\da-fA-F]{2})/y
/** The word in front of raw data, which is as long as its number says. */
const RAW_DATA = 'bin'
const MARKS = /[{}\\\r\n]/g

/** Reads RTF in one pass. @param source its bytes as Latin-1. */
export function readRtf(source: string, reader: RtfReader): void {
  let at = 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at += found[0].length
    return found
  }
  while (at < source.length) {
    const end = nextMark(source, at)
    if (end > at) reader.text(source.slice(at, end))
    at = end + 1
    const mark = source[end]
    if (mark === '{') reader.openGroup()
    else if (mark === '}') reader.closeGroup()
    if (mark !== '\\') continue
    const hex = match(HEX)
    const word = hex ? undefined : match(WORD)
    if (hex) reader.text(String.fromCharCode(Number.parseInt(hex[1] ?? '', 16)))
    else if (word) {
      const value = word[2] === undefined ? undefined : Number(word[2])
      if (word[1] === RAW_DATA) at += Math.max(0, value ?? 0)
      else reader.control(word[1] ?? '', value)
    } else {
      reader.control(source[at] ?? '', undefined)
      at += 1
    }
  }
}

function nextMark(source: string, start: number): number {
  MARKS.lastIndex = start
  return MARKS.exec(source)?.index ?? source.length
}
