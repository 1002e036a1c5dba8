import type { HeldText } from '../held-text.ts'
import { all, type DomElement, isInside, moveChildren, replace } from '../nodes.ts'

const REFERENCES =
  'sup a[href*="#fn"],sup a[href*="#footnote"],sup a[href*="#cite_note"],a.footnote-ref,a[role=doc-noteref]'
const BACK_LINKS = 'a.footnote-backref,a[role=doc-backlink],a[href*="#fnref"],.mw-cite-backlink'

/** Writes references to notes on the page as `[^1]` and the notes themselves as `[^1]: …`. */
export function markFootnotes(root: DomElement, held: HeldText): void {
  const references = all(root, REFERENCES)
  if (references.length === 0) return
  const notes = new Map(all(root, 'li[id],p[id],div[id]').map((note) => [note.getAttribute('id') ?? '', note]))
  const labels = new Map<DomElement, string>()
  const document = root.ownerDocument
  for (const reference of references) {
    const note = notes.get(fragmentOf(reference))
    if (!note || !isInside(reference, root) || isInside(reference, note)) continue
    const label = labels.get(note) ?? labelOf(reference)
    labels.set(note, label)
    replace(reference.closest('sup') ?? reference, document.createTextNode(held.inline(`[^${label}]`)))
  }
  for (const [note, label] of labels) writeNote(note, held.inline(`[^${label}]:`))
}

function fragmentOf(link: DomElement): string {
  const fragment = URL.parse(link.getAttribute('href') ?? '')?.hash.slice(1) ?? ''
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

const labelOf = (reference: DomElement): string =>
  (reference.textContent ?? '').replaceAll(/[^\p{L}\p{N}]/gu, '').slice(0, 20) || 'note'

/** Takes a note out of its list, which would number it again. */
function writeNote(note: DomElement, mark: string): void {
  for (const link of all(note, BACK_LINKS)) link.remove()
  const document = note.ownerDocument
  const paragraph = document.createElement('p')
  paragraph.appendChild(document.createTextNode(`${mark} `))
  moveChildren(note.querySelector('p') ?? note, paragraph)
  const list = note.localName === 'li' ? note.parentNode : null
  if (!list?.parentNode) {
    note.insertBefore(paragraph, note.firstChild)
    return
  }
  const rest = document.createElement('div')
  rest.appendChild(paragraph)
  moveChildren(note, rest)
  list.parentNode.insertBefore(rest, list)
  note.remove()
  if (list.querySelector('li') === null) list.remove()
}
