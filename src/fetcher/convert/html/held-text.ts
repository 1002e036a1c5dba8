const OPEN = '\uFDD0'
const CLOSE = '\uFDD1'
const TOKEN = /\uFDD0(\d+)\uFDD1/g
const BLOCK_LINE = /^(.*?)\uFDD0(\d+)\uFDD1[ \t]*$/
/** Quote marks, bullets and numbers at the start of a line. */
const MARKS = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*/

interface Held {
  readonly text: string
  readonly block: boolean
}

/**
 * Text that must come through the Markdown writer untouched: code, TeX, check boxes. A token stands in the document
 * for it. The two characters around a token are Unicode non-characters, which `withoutTokens` takes out of every page.
 */
export class HeldText {
  readonly #held: Held[] = []

  /** @returns the token for a piece of a line. */
  inline(text: string): string {
    return this.#hold({ text, block: false })
  }

  /** @returns the token for whole lines; it must be all there is in its paragraph. */
  block(text: string): string {
    return this.#hold({ text, block: true })
  }

  /** Puts what was held back. A block gets the indentation or quote marks of its place before each of its lines. */
  restore(written: string): string {
    if (this.#held.length === 0) return written
    const lines = written.split('\n').map((line) => this.#restoreBlock(line))
    return this.restoreInline(lines.join('\n'))
  }

  /** Puts what was held back, as it is. */
  restoreInline(written: string): string {
    return written.replaceAll(TOKEN, (_, index: string) => this.#held[Number(index)]?.text ?? '')
  }

  #hold(held: Held): string {
    this.#held.push(held)
    return `${OPEN}${this.#held.length - 1}${CLOSE}`
  }

  #restoreBlock(line: string): string {
    const [, before = '', index] = BLOCK_LINE.exec(line) ?? []
    const held = index === undefined ? undefined : this.#held[Number(index)]
    if (!held?.block) return line
    const [marks = ''] = MARKS.exec(before) ?? []
    const next = marks.replaceAll(/[^>\s]/g, ' ')
    const start = before.length > marks.length ? `${before.trimEnd()}\n${next.trimEnd()}\n${next}` : before
    return start + held.text.replaceAll('\n', `\n${next}`)
  }
}

export const withoutTokens = (source: string): string => source.replaceAll(/[\uFDD0\uFDD1]/g, '')
