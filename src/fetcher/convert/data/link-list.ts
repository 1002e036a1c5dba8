import { DOM_CAPS, parsePage } from '../html/dom.ts'
import { linksOf, type PageLink } from '../html/links-of.ts'
import type { DomDocument } from '../html/nodes.ts'
import { escapeHtml } from '../xml/escape-html.ts'

/** Links, each address once. */
export interface LinkList {
  readonly links: readonly PageLink[]
  /** False if there are too many of them. */
  readonly complete: boolean
}

/** Links that are put into one piece of HTML. */
const LINKS_IN_PIECE = Math.floor(DOM_CAPS.elementsMax / 2)

/** The links in pieces of HTML, in their order. @param url the base of relative links, and what is internal to it. */
export function linksInPieces(
  pieces: readonly string[],
  url: string,
  prepare: (piece: DomDocument) => void = () => {},
): LinkList {
  const found = new Map<string, PageLink>()
  let isComplete = true
  for (const piece of pieces) {
    const { document, complete } = parsePage(piece)
    prepare(document)
    const read = linksOf(document, url, url)
    for (const link of read.links) if (!found.has(link.url)) found.set(link.url, link)
    isComplete &&= complete && read.complete
  }
  return { links: [...found.values()], complete: isComplete }
}

/** The links of a document that is no page, in the same form. */
export function linkList(links: readonly { readonly url: string; readonly text: string }[], url: string): LinkList {
  const pieces: string[] = []
  for (let at = 0; at < links.length; at += LINKS_IN_PIECE) {
    pieces.push(
      links
        .slice(at, at + LINKS_IN_PIECE)
        .map(anchor)
        .join(' '),
    )
  }
  return linksInPieces(pieces, url)
}

const anchor = ({ url, text }: { readonly url: string; readonly text: string }) =>
  `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`
