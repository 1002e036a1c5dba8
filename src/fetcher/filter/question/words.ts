const WORDS = new Intl.Segmenter('und', { granularity: 'word' })
/** Scripts that do not part words by blanks. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const MARKS_ON_LETTERS = /(?<=[\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu
/** Two words with the same beginning count as forms of one word from this length of it on, and these shares of them. */
const BEGINNING_MIN = 3
const SHORTER_SHARE_MIN = 0.8
const LONGER_SHARE_MIN = 0.6

/**
 * The words of a text without case, and without the accents of Latin and Greek. Words of unspaced scripts also come as
 * pairs of characters, since where such a word ends is a guess.
 */
export function wordsOf(text: string): string[] {
  // Upper case first: it writes out what has no single lower case, such as the German ß.
  const folded = text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFD')
  const words: string[] = []
  for (const { segment, isWordLike } of WORDS.segment(folded.replaceAll(MARKS_ON_LETTERS, '').normalize('NFC'))) {
    if (!isWordLike) continue
    words.push(segment)
    if (!UNSPACED.test(segment)) continue
    const characters = Array.from(segment)
    for (let at = 0; characters.length > 2 && at + 1 < characters.length; at += 1) {
      words.push(`${characters[at]}${characters[at + 1]}`)
    }
  }
  return words
}

/** Whether two words are likely forms of one, such as singular and plural, in whatever language: they begin alike. */
export function areForms(a: string, b: string): boolean {
  if (a === b) return true
  if (UNSPACED.test(a) || UNSPACED.test(b)) return false
  const shorter = Math.min(a.length, b.length)
  let common = 0
  while (common < shorter && a[common] === b[common]) common += 1
  return (
    common >= BEGINNING_MIN &&
    common >= shorter * SHORTER_SHARE_MIN &&
    common >= Math.max(a.length, b.length) * LONGER_SHARE_MIN
  )
}
