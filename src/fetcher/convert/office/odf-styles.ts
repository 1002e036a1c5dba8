import type { XmlAttributes } from '../xml/xml-attributes.ts'
import type { ParagraphKind, TextFormat } from './document-writer.ts'

/** Styles that one may be based on, one after the other. */
const ANCESTORS_MAX = 20
const STYLES_MAX = 50_000
const BOLD_MIN = 600

interface Style {
  readonly name: string
  readonly parent: string | undefined
  readonly heading: number | undefined
  format: TextFormat
}

/** The styles of an OpenDocument document: of its own part, and those that the program made for single places. */
export class OdfStyles {
  readonly #styles = new Map<string, Style>()
  /** Whether the items have numbers, by the name of the list style and the level from 1. */
  readonly #lists = new Map<string, boolean>()
  readonly #formats = new Map<string, TextFormat>()
  #style: Style | undefined
  #listStyle = ''

  /** Takes an element in front of the body. */
  open(name: string, attributes: XmlAttributes): void {
    const ownName = attributes.get('style:name') ?? ''
    if (name === 'style') this.#openStyle(ownName, attributes)
    else if (name === 'text-properties' && this.#style) this.#style.format = formatOf(attributes)
    else if (name === 'list-style') this.#listStyle = ownName
    else if (name.startsWith('list-level-style-') && this.#lists.size < STYLES_MAX) {
      const hasNumber = name.endsWith('-number') && (attributes.get('num-format') ?? '') !== ''
      this.#lists.set(`${this.#listStyle} ${attributes.get('level')}`, hasNumber)
    }
  }

  /** What a paragraph with this style is, if its style tells. */
  kindOf(styleName: string | undefined): ParagraphKind {
    for (const { name, heading } of this.#lineage('paragraph', styleName)) {
      if (name === 'Title') return { heading: 1 }
      if (heading !== undefined) return { heading }
      if (name === 'Preformatted_20_Text') return { code: true }
    }
    return {}
  }

  /** How text with this style looks. */
  formatOf(styleName: string | undefined): TextFormat {
    const known = this.#formats.get(styleName ?? '')
    if (known) return known
    let format: TextFormat = {}
    for (const style of this.#lineage('text', styleName)) format = { ...style.format, ...format }
    this.#formats.set(styleName ?? '', format)
    return format
  }

  /** @param level from 1. */
  isOrdered(listStyle: string | undefined, level: number): boolean {
    return this.#lists.get(`${listStyle} ${level}`) ?? false
  }

  #openStyle(name: string, attributes: XmlAttributes): void {
    const heading = Number(attributes.get('default-outline-level')) || undefined
    this.#style = { name, parent: attributes.get('parent-style-name'), heading, format: {} }
    if (this.#styles.size < STYLES_MAX) this.#styles.set(`${attributes.get('family')} ${name}`, this.#style)
  }

  /** A style and those that it is based on. */
  *#lineage(family: 'paragraph' | 'text', name: string | undefined): Generator<Style> {
    let at = this.#styles.get(`${family} ${name}`)
    for (let count = 0; at !== undefined && count < ANCESTORS_MAX; count += 1) {
      yield at
      at = this.#styles.get(`${family} ${at.parent}`)
    }
  }
}

/** Only the members that the properties tell, so that those of a parent show through. */
function formatOf(attributes: XmlAttributes): TextFormat {
  const weight = attributes.get('fo:font-weight')
  const slant = attributes.get('fo:font-style')
  const strike = attributes.get('text-line-through-style')
  const position = attributes.get('text-position')
  return {
    ...(weight === undefined ? {} : { bold: weight === 'bold' || Number(weight) >= BOLD_MIN }),
    ...(slant === undefined ? {} : { italic: slant !== 'normal' }),
    ...(strike === undefined ? {} : { strike: strike !== 'none' }),
    ...(position === undefined ? {} : { raised: raisedBy(position) }),
  }
}

/** Positions are `super`, `sub` or a share of the height, which is 0 for text on the line. */
function raisedBy(position: string): 'sup' | 'sub' | undefined {
  const share = Number.parseFloat(position)
  if (position.startsWith('super') || share > 0) return 'sup'
  return position.startsWith('sub') || share < 0 ? 'sub' : undefined
}
