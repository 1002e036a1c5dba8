import { PAGE_MARK } from '../../convert/paged.ts'

/** A piece of content that is quoted whole: some paragraphs, a list, a table, some lines of code. */
export interface ContentPassage {
  /** UTF-16 code units from the start of the content; `end` is exclusive. */
  readonly start: number
  readonly end: number
  /** The headings above it, outermost first. */
  readonly heading: readonly string[]
  readonly page: number | undefined
}

/** Code units up to which paragraphs are put together into one passage, and above which one is taken apart. */
const PASSAGE_LENGTH_MIN = 200
const PASSAGE_LENGTH_MAX = 900
/** Code units of a heading that tells where a passage stands. */
const HEADING_LENGTH_MAX = 200
const HEADING = /^(#{1,6})\s+(.+?)\s*#*$/
const FENCE = /^(`{3,}|~{3,})/

interface Block {
  readonly start: number
  readonly end: number
}

/**
 * Takes content apart into passages that follow one another and do not overlap. Headings and page marks lie between
 * them. Content that is no Markdown has no headings.
 */
export function passagesOf(content: string, isMarkdown: boolean): ContentPassage[] {
  const passages: ContentPassage[] = []
  const headings: { level: number; text: string }[] = []
  let page: number | undefined
  let open: Block | undefined
  /** The last heading, while nothing stands below it: it says what it says itself. */
  let bare: Block | undefined
  const close = () => {
    if (open) {
      const heading = headings.map(({ text }) => text)
      for (const part of parts(content, open)) passages.push({ ...part, heading, page })
    }
    if (bare) {
      const heading = headings.slice(0, -1).map(({ text }) => text)
      for (const part of parts(content, bare)) passages.push({ ...part, heading, page })
    }
    open = undefined
    bare = undefined
  }
  for (const block of blocksOf(content, isMarkdown)) {
    const text = content.slice(block.start, block.end)
    const mark = PAGE_MARK.exec(text)
    const heading = isMarkdown ? HEADING.exec(text) : null
    if (mark) {
      close()
      page = Number(mark[1])
    } else if (heading) {
      close()
      const level = heading[1]?.length ?? 1
      while ((headings.at(-1)?.level ?? 0) >= level) headings.pop()
      headings.push({ level, text: plain(heading[2] ?? '').slice(0, HEADING_LENGTH_MAX) })
      bare = block
    } else if (open && block.end - open.start <= PASSAGE_LENGTH_MAX && open.end - open.start < PASSAGE_LENGTH_MIN) {
      open = { start: open.start, end: block.end }
    } else {
      bare = undefined
      close()
      open = block
    }
  }
  close()
  return passages
}

/** What stands between blank lines; a heading and a page mark by themselves, fenced code as a whole. */
function* blocksOf(content: string, isMarkdown: boolean): Generator<Block> {
  let start: number | undefined
  let end = 0
  let fence: string | undefined
  for (const { 0: line, index } of content.matchAll(/[^\n]+|\n\n/g)) {
    const fenceMark = isMarkdown ? FENCE.exec(line)?.[1] : undefined
    if (fence !== undefined) {
      if (line !== '\n\n') end = index + line.length
      if (fenceMark?.startsWith(fence)) fence = undefined
      continue
    }
    const isAlone = PAGE_MARK.test(line) || (isMarkdown && HEADING.test(line))
    if ((isAlone || /^\s*$/.test(line)) && start !== undefined) {
      yield { start, end }
      start = undefined
    }
    if (isAlone) yield { start: index, end: index + line.length }
    else if (/\S/.test(line)) {
      start ??= index
      end = index + line.trimEnd().length
      fence = fenceMark
    }
  }
  if (start !== undefined) yield { start, end }
}

/** A block that is too long, at the ends of lines, or else of sentences, or else anywhere. */
function* parts(content: string, { start, end }: Block): Generator<Block> {
  let from = start
  while (end - from > PASSAGE_LENGTH_MAX) {
    const window = content.slice(from, from + PASSAGE_LENGTH_MAX)
    const cut = from + cutOf(window)
    const text = content.slice(from, cut)
    yield { start: from, end: from + text.trimEnd().length }
    const rest = content.slice(cut, end)
    from = cut + rest.length - rest.trimStart().length
  }
  if (from < end) yield { start: from, end }
}

const BREAKS = [/\n/g, /[.!?]["”’)\]]*\s|[。！？]/gu, /\s/g]

/** Where to end a passage that starts with `window`: after its last line, sentence or word that is not too early. */
function cutOf(window: string): number {
  for (const pattern of BREAKS) {
    const last = [...window.matchAll(pattern)].at(-1)
    const at = last === undefined ? 0 : last.index + last[0].length
    if (at >= PASSAGE_LENGTH_MIN) return at
  }
  return /[\uD800-\uDBFF]$/.test(window) ? window.length - 1 : window.length
}

/** A heading without its links, marks and escapes. */
const plain = (heading: string): string =>
  heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll(/[*_`]{1,3}/g, '')
    .trim()
