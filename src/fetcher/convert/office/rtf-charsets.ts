const DEFAULT = 'windows-1252'

/** Encodings by the number that a font has for its character set. Those of the document count for all others. */
const FONT_CHARSETS = new Map<number, string>([
  [77, 'macintosh'],
  [128, 'shift_jis'],
  [129, 'euc-kr'],
  [134, 'gbk'],
  [136, 'big5'],
  [161, 'windows-1253'],
  [162, 'windows-1254'],
  [163, 'windows-1258'],
  [177, 'windows-1255'],
  [178, 'windows-1256'],
  [186, 'windows-1257'],
  [204, 'windows-1251'],
  [222, 'windows-874'],
  [238, 'windows-1250'],
])

const CODE_PAGES = new Map<number, string>([
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [10_000, 'macintosh'],
  [65_001, 'utf-8'],
])

/** The WHATWG name of the encoding that a font is written in; undefined if it says no other than the document. */
export const charsetOfFont = (number: number): string | undefined => FONT_CHARSETS.get(number)

/** The WHATWG name of the encoding of a Windows code page; Windows-1252 for those that have none. */
export function charsetOfCodePage(number: number): string {
  return CODE_PAGES.get(number) ?? (number >= 1_250 && number <= 1_258 ? `windows-${number}` : DEFAULT)
}
