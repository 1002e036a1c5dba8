import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'

import { oneLine } from '../one-line.ts'
import type { Block } from './blocks.ts'
import { codeLines } from './code-lines.ts'
import { joinLines } from './join-lines.ts'
import { type Line, linesOf } from './lines.ts'
import type { Piece } from './page-pieces.ts'

type Tree = NonNullable<Awaited<ReturnType<PDFPageProxy['getStructTree']>>>
type TreeChild = Tree['children'][number]

/** The share of a page's text that its tags must hold to be believed. */
const COVERAGE_MIN = 0.9
/** The share of a page's text that tags may call decoration. */
const ARTIFACT_SHARE_MAX = 0.5

/** Roles whose parts are blocks of their own. */
const CONTAINERS = new Set(
  'Root Document DocumentFragment Part Art Sect Div NonStruct Private Aside TOC Index Form'.split(' '),
)
const BLOCK_ROLE = /^(?:P|H[1-6]?|Title|L|Table|Sect|Div|TR|TOCI)$/
const ITEM_MARKER = /^(?:[•◦▪‣·–-]|\(?[\da-zA-Z]{1,3}[.)])\s+/

/** What the tags of a page say, and then what they leave out. Undefined where there are none, or they leave out much. */
export function taggedBlocks(pieces: readonly Piece[], tree: Tree | null): Block[] | undefined {
  if (!tree || tree.children.length === 0) return undefined
  const reader = new TagReader(pieces)
  const blocks = tree.children.flatMap((child) => reader.blocksOf(child))
  return reader.coversPage() ? [...blocks, ...reader.rest()] : undefined
}

class TagReader {
  readonly #tagged = new Map<string, Piece[]>()
  readonly #taken = new Set<string>()
  readonly #pieces: readonly Piece[]
  readonly #letters: number
  readonly #decoration: number
  #covered = 0

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces
    for (const piece of pieces) {
      if (piece.tag === undefined) continue
      const held = this.#tagged.get(piece.tag)
      if (held) held.push(piece)
      else this.#tagged.set(piece.tag, [piece])
    }
    this.#letters = lettersOf(pieces)
    this.#decoration = lettersOf(pieces.filter((piece) => piece.isArtifact && piece.tag === undefined))
  }

  coversPage(): boolean {
    const rest = this.#letters - this.#decoration
    return this.#decoration <= this.#letters * ARTIFACT_SHARE_MAX && this.#covered >= rest * COVERAGE_MIN
  }

  /** The text that no tag holds and that is no decoration, a paragraph a line. Comes after all tags. */
  rest(): Block[] {
    const isLeft = ({ tag, isArtifact }: Piece) => !isArtifact && (tag === undefined || !this.#taken.has(tag))
    return linesOf(this.#pieces.filter(isLeft)).flatMap(({ text }) => paragraph(text))
  }

  blocksOf(node: TreeChild): Block[] {
    if (!('role' in node)) return paragraph(this.#textOf(node))
    const { role } = node
    const level = levelOf(role)
    if (level !== undefined) {
      const text = this.#textOf(node)
      return text === '' ? [] : [{ kind: 'heading', level, text }]
    }
    if (role === 'L') return this.#items(node, 0)
    if (role === 'Table') return this.#table(node)
    if (role === 'Code') return this.#code(node)
    const isContainer =
      CONTAINERS.has(role) || node.children.some((child) => 'role' in child && BLOCK_ROLE.test(child.role))
    if (isContainer) return node.children.flatMap((child) => this.blocksOf(child))
    return this.#leafBlock(node)
  }

  #leafBlock(node: Tree): Block[] {
    const lines = linesOf(this.#piecesOf(node))
    if (lines.length > 0 && lines.every((line) => line.isMono)) return [{ kind: 'code', lines: codeLines(lines) }]
    const text = textOfLines(lines)
    if (text === '') return figure(node)
    return node.role === 'BlockQuote' ? [{ kind: 'quote', text }] : paragraph(text)
  }

  #items(list: Tree, depth: number): Block[] {
    return list.children.flatMap((child) => {
      if (!('role' in child)) return paragraph(this.#textOf(child))
      return child.role === 'L' ? this.#items(child, depth + 1) : this.#item(child, depth)
    })
  }

  #item(node: Tree, depth: number): Block[] {
    const labels: TreeChild[] = []
    const body: TreeChild[] = []
    const lists: Tree[] = []
    const sort = (child: TreeChild): void => {
      if (!('role' in child)) body.push(child)
      else if (child.role === 'Lbl') labels.push(child)
      else if (child.role === 'L') lists.push(child)
      else if (/^(?:LBody|NonStruct|Div)$/.test(child.role)) child.children.forEach(sort)
      else body.push(child)
    }
    node.children.forEach(sort)
    let label = textOf(labels.flatMap((child) => this.#piecesOf(child)))
    let text = textOf(body.flatMap((child) => this.#piecesOf(child)))
    const written = label === '' ? ITEM_MARKER.exec(text)?.[0] : undefined
    if (written !== undefined) [label, text] = [written.trim(), text.slice(written.length)]
    const number = /^\(?(\d{1,9})[.)]*$/.exec(label)?.[1]
    const marker = number === undefined ? '-' : `${number}.`
    const item: Block[] = text === '' ? [] : [{ kind: 'item', depth, marker, text }]
    return [...item, ...lists.flatMap((list) => this.#items(list, depth + 1))]
  }

  #table(node: Tree): Block[] {
    const rows: string[][] = []
    const around: Block[] = []
    const walk = (child: TreeChild): void => {
      if (!('role' in child)) around.push(...paragraph(this.#textOf(child)))
      else if (child.role === 'TR') rows.push(this.#cells(child))
      else if (child.role === 'Caption') around.push(...paragraph(this.#textOf(child)))
      else child.children.forEach(walk)
    }
    node.children.forEach(walk)
    const isTable = rows.some((row) => row.length > 1)
    return [...around, ...(isTable ? [{ kind: 'table', rows } as const] : rows.flat().flatMap(paragraph))]
  }

  #cells(row: Tree): string[] {
    return row.children.flatMap((cell) => {
      const isCell = 'role' in cell && (cell.role === 'TD' || cell.role === 'TH')
      const text = this.#textOf(cell)
      return isCell || text !== '' ? [text] : []
    })
  }

  #code(node: Tree): Block[] {
    const lines = linesOf(this.#piecesOf(node))
    return lines.length === 0 ? [] : [{ kind: 'code', lines: codeLines(lines) }]
  }

  #textOf(node: TreeChild): string {
    return textOf(this.#piecesOf(node))
  }

  /** The pieces under a node. Each is given once: a tree may name it twice. */
  #piecesOf(node: TreeChild): Piece[] {
    if ('role' in node) return node.children.flatMap((child) => this.#piecesOf(child))
    if (this.#taken.has(node.id)) return []
    this.#taken.add(node.id)
    const pieces = this.#tagged.get(node.id) ?? []
    this.#covered += lettersOf(pieces)
    return pieces
  }
}

function levelOf(role: string): number | undefined {
  if (role === 'H' || role === 'Title') return 1
  return /^H[1-6]$/.test(role) ? Number(role.slice(1)) : undefined
}

const textOf = (pieces: readonly Piece[]): string => textOfLines(linesOf(pieces))

const textOfLines = (lines: readonly Line[]): string => oneLine(joinLines(lines.map(({ text }) => text)))

/** What a picture shows, in the author's words. */
function figure(node: Tree & { readonly alt?: string }): Block[] {
  const text = oneLine(node.alt ?? '')
  return node.role === 'Figure' && text !== '' ? [{ kind: 'figure', text }] : []
}

const paragraph = (text: string): Block[] => (text === '' ? [] : [{ kind: 'paragraph', text }])

const lettersOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { text }) => sum + text.replaceAll(/\s/g, '').length, 0)
