import { htmlToMarkdown } from '@mdream/js'

import type { HeldText } from './held-text.ts'
import { all, type DomElement, replace, moveChildren, unwrap } from './nodes.ts'
import { plainText } from './plain-text.ts'
import { holdEmphasis } from './prepare/emphasis.ts'
import { markFootnotes } from './prepare/footnotes.ts'
import { holdCode } from './prepare/held-code.ts'
import { holdLinks } from './prepare/held-links.ts'
import { holdLineStarts } from './prepare/line-starts.ts'
import { dropEmptyLinks, narrowBlockLinks } from './prepare/links.ts'
import { listDefinitions, openDetails } from './prepare/lists.ts'
import { flattenTables } from './prepare/tables.ts'

/** What would come out as HTML, and says nothing in plain text. */
const PLAIN = 'mark,u,ins,small,font,abbr,label,picture,figure,center,big,time'

export interface Written {
  readonly content: string
  readonly warnings: readonly string[]
}

/** Writes the content of `root` as Markdown. Takes `root` apart. */
export function toMarkdown(root: DomElement, held: HeldText): Written {
  markFootnotes(root, held)
  listDefinitions(root)
  openDetails(root)
  narrowBlockLinks(root)
  dropEmptyLinks(root)
  flattenTables(root)
  plainen(root)
  holdEmphasis(root, held)
  holdCode(root, held)
  holdLineStarts(root, held)
  holdLinks(root, held)
  try {
    return { content: held.restore(tidy(htmlToMarkdown(root.innerHTML))).trim(), warnings: [] }
  } catch {
    // The writer has its limits with broken markup; the text is there all the same.
    const warning = 'The page could not be written as Markdown; this is its plain text.'
    return { content: held.restoreInline(plainText(root)), warnings: [warning] }
  }
}

function plainen(root: DomElement): void {
  for (const element of all(root, PLAIN)) unwrap(element)
  for (const sup of all(root, 'sup,sub')) if (sup.querySelector('a') !== null) unwrap(sup)
  for (const address of all(root, 'address,legend,fieldset')) {
    const block = root.ownerDocument.createElement('div')
    moveChildren(address, block)
    replace(address, block)
  }
}

/** Runs before held code comes back: no more than one blank line, and no escapes inside words. */
function tidy(markdown: string): string {
  return markdown
    .replaceAll(/^[^\S\n]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/(?<=[\p{L}\p{N}])\\_(?=[\p{L}\p{N}])/gu, '_')
}
