/** Pages from 1, both ends included. `from` alone is open to the end; `last` counts from the end. */
export type PageRange = { readonly from: number; readonly to: number | undefined } | { readonly last: number }

const RANGE = /^(?:(?<from>[1-9]\d{0,6})(?:(?<dash>-)(?<to>[1-9]\d{0,6})?)?|-(?<last>[1-9]\d{0,6}))$/

/** Reads `1-3,7`, `5-`, `-2`. Returns undefined if the text is not a list of ranges, or one of them runs backwards. */
export function parsePageRanges(text: string): PageRange[] | undefined {
  const ranges: PageRange[] = []
  for (const part of text.split(',')) {
    const groups = RANGE.exec(part.trim())?.groups
    if (!groups) return undefined
    if (groups.last !== undefined) ranges.push({ last: Number(groups.last) })
    else {
      const from = Number(groups.from)
      const to = groups.dash === undefined ? from : groups.to === undefined ? undefined : Number(groups.to)
      if (to !== undefined && to < from) return undefined
      ranges.push({ from, to })
    }
  }
  return ranges
}
