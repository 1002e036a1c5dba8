/** Runs of letters, digits and underscores, in any script. */
export function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0
}
