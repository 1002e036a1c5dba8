import type { ListPlace } from './document-writer.ts'
import { headingOf } from './docx-styles.ts'

interface Level {
  ordered: boolean
  start: number
}

const ENTRIES_MAX = 20_000
const LEVELS_MAX = 9
/** Formats of list numbers that show none: bullets and nothing. */
const UNORDERED = new Set([23, 255])

/** The list tables at the head of an RTF document, and the numbers that its lists have come to. */
export class RtfLists {
  #levels: Level[] = []
  #listId = 0
  readonly #lists = new Map<number, readonly Level[]>()
  readonly #overrides = new Map<number, number>()
  readonly #numbers = new Map<number, number[]>()

  /** Takes a control word of the table of lists, or of their overrides. */
  control(word: string, value = 0): void {
    const level = this.#levels.at(-1)
    if (word === 'list') this.#levels = []
    else if (word === 'listlevel') this.#levels.push({ ordered: true, start: 1 })
    else if (word === 'levelnfc' && level) level.ordered = !UNORDERED.has(value)
    else if (word === 'levelstartat' && level) level.start = value
    else if (word === 'listid') {
      this.#listId = value
      if (!this.#lists.has(value) && this.#lists.size < ENTRIES_MAX)
        this.#lists.set(value, this.#levels.slice(0, LEVELS_MAX))
    } else if (word === 'ls' && this.#overrides.size < ENTRIES_MAX) this.#overrides.set(value, this.#listId)
  }

  /** The place of the next item of a list; undefined if there is no such list. */
  next(list: number, level: number): ListPlace | undefined {
    const known = this.#lists.get(this.#overrides.get(list) ?? Number.NaN)?.[level]
    if (!known) return undefined
    const numbers = this.#numbers.get(list) ?? []
    this.#numbers.set(list, numbers)
    const number = (numbers[level] ?? known.start - 1) + 1
    numbers.length = level
    numbers[level] = number
    return { level, ordered: known.ordered, number }
  }
}

const HEADING_NAME = /^heading ?([1-9])$/i

/** The style sheet of an RTF document: which styles are headings. */
export class RtfStyles {
  readonly #headings = new Map<number, number>()
  #id = 0
  #heading: number | undefined
  #name = ''

  open(): void {
    this.#id = 0
    this.#heading = undefined
    this.#name = ''
  }

  /** Takes a control word of a style. */
  control(word: string, value: number | undefined): void {
    if (word === 's') this.#id = value ?? 0
    else if (word === 'outlinelevel') this.#heading = headingOf(String(value ?? 0))
  }

  /** Takes a piece of the name of a style. */
  text(text: string): void {
    this.#name += text.slice(0, 100)
  }

  close(): void {
    const name = this.#name.replace(/;$/, '').trim()
    const heading = Number(HEADING_NAME.exec(name)?.[1]) || (name === 'Title' ? 1 : this.#heading)
    if (heading !== undefined && this.#headings.size < ENTRIES_MAX) this.#headings.set(this.#id, heading)
    this.open()
  }

  /** The level of the headings with this style, from 1. */
  headingOf(id: number): number | undefined {
    return this.#headings.get(id)
  }
}
