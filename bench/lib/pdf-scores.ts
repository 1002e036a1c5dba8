/** The words of a text, in lower case. CJK and Thai, which put no blanks between words, count as runs. */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []

/** The share of the words of `truth` that `text` holds, each as often as there. From 0 to 1; 1 for a truth without words. */
export function wordRecall(truth: string, text: string): number {
  const left = new Map<string, number>()
  for (const word of wordsOf(text)) left.set(word, (left.get(word) ?? 0) + 1)
  const wanted = wordsOf(truth)
  let found = 0
  for (const word of wanted) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    found += 1
  }
  return wanted.length === 0 ? 1 : found / wanted.length
}

/**
 * How well `text` keeps the order of `truth`: the longest run of words that both have in the same order, as a share of
 * the words that both have. From 0 to 1. Takes time by the product of their words.
 */
export function wordOrder(truth: string, text: string): number {
  const [wanted, given] = [wordsOf(truth), wordsOf(text)]
  const shared = wordRecall(truth, text) * wanted.length
  return shared === 0 ? 0 : longestCommon(wanted, given) / shared
}

/** The length of the longest common subsequence. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let previous = new Uint32Array(b.length + 1)
  for (const word of a) {
    const row = new Uint32Array(b.length + 1)
    for (const [index, other] of b.entries()) {
      row[index + 1] = word === other ? (previous[index] ?? 0) + 1 : Math.max(previous[index + 1] ?? 0, row[index] ?? 0)
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
