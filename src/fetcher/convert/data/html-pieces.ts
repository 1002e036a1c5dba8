import { dropUnreadable } from '../html/clean.ts'
import { DOM_CAPS, FLATTENED, parsePage } from '../html/dom.ts'
import { HeldText, withoutTokens } from '../html/held-text.ts'
import { toMarkdown, type Written } from '../html/markdown.ts'
import { all, type DomDocument, type DomElement, replace } from '../html/nodes.ts'
import { plainText } from '../html/plain-text.ts'
import { resolveUrls } from '../html/prepare/links.ts'
import { safeHtml } from '../html/safe-html.ts'

/** How a document is written. */
export type DocumentStyle = 'markdown' | 'text' | 'html'

/** Where a reference to a note leads, in front of its number; the note has it as its id, without the `#`. */
export const NOTE_PREFIX = '#document-note-'

export interface DocumentContent {
  /** Empty if the document has no text. */
  readonly content: string
  /** False if something was left out. */
  readonly complete: boolean
  readonly warnings: readonly string[]
}

/** Characters of HTML that are written, in whole pieces: more than is ever stored, and what takes some seconds. */
const LENGTH_MAX = 10_000_000

/** HTML in pieces that end between blocks. */
export interface DocumentPieces {
  readonly pieces: readonly string[]
  /** Changes each piece before anything reads it. */
  readonly prepare?: (piece: DomDocument) => void
}

/** Writes the pieces of a document one by one and joins them. @param url the base of its relative links. */
export function contentOf({ pieces, prepare }: DocumentPieces, url: string, style: DocumentStyle): DocumentContent {
  const read = withinLength(pieces)
  const warnings = new Set<string>()
  let isComplete = read.length === pieces.length
  if (!isComplete) warnings.add('The document is too long; its end was left out.')
  const contents = read.map((piece) => {
    const { document, complete, flattened } = parsePage(withoutTokens(piece))
    if (!complete) warnings.add(`A part has more than ${DOM_CAPS.elementsMax} elements; the rest of it was left out.`)
    if (flattened) warnings.add(FLATTENED)
    isComplete &&= complete
    dropUnreadable(document.body)
    prepare?.(document)
    resolveUrls(document, url, url)
    const written = write(document, style)
    for (const warning of written.warnings) warnings.add(warning)
    return written.content.trim()
  })
  const content = contents.filter((written) => written !== '').join('\n\n')
  return { content, complete: isComplete, warnings: [...warnings] }
}

/** The first pieces, until they are long enough together. */
function withinLength(pieces: readonly string[]): readonly string[] {
  let length = 0
  const end = pieces.findIndex((piece) => {
    length += piece.length
    return length - piece.length > LENGTH_MAX
  })
  return end < 0 ? pieces : pieces.slice(0, end)
}

function write({ body }: DomDocument, style: DocumentStyle): Written {
  const held = new HeldText()
  if (style === 'html') return { content: safeHtml(body, held), warnings: [] }
  if (style === 'text') return { content: plainText(body), warnings: [] }
  holdNotes(body, held)
  return toMarkdown(body, held)
}

/** Writes references to notes as `[^1]` and the notes themselves as `[^1]: …`. The two may stand in different pieces. */
function holdNotes(body: DomElement, held: HeldText): void {
  const document = body.ownerDocument
  for (const link of all(body, `a[href*="${NOTE_PREFIX}"]`)) {
    replace(link, document.createTextNode(held.inline(`[^${(link.textContent ?? '').trim()}]`)))
  }
  for (const note of all(body, `div[id^="${NOTE_PREFIX.slice(1)}"]`)) {
    const number = (note.getAttribute('id') ?? '').slice(NOTE_PREFIX.length - 1)
    const first = note.querySelector('p') ?? note
    first.insertBefore(document.createTextNode(`${held.inline(`[^${number}]:`)} `), first.firstChild)
  }
}
