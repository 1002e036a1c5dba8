import type { Conversion, DocumentMeta } from '../document.ts'
import { failure } from '../failure.ts'
import { baseOf } from './base.ts'
import { dropUnreadable } from './clean.ts'
import { DOM_CAPS, parsePage } from './dom.ts'
import { HeldText, withoutTokens } from './held-text.ts'
import { type MainContent, mainContent } from './main-content.ts'
import { toMarkdown, type Written } from './markdown.ts'
import { metadataOf } from './metadata.ts'
import { normalise } from './normalise.ts'
import { plainText } from './plain-text.ts'
import { dropHeadingAnchors } from './prepare/links.ts'
import { repair } from './repair.ts'

/** Words that Readability must find for a page to count as an article. */
const ARTICLE_WORDS_MIN = 40

export type PageMode = 'auto' | 'article' | 'full' | 'text'

/** Converts an HTML page that has been decoded. */
export function convertPage(source: string, url: string, mode: PageMode, known: DocumentMeta): Conversion {
  const { document, elements, complete } = parsePage(withoutTokens(source))
  dropHeadingAnchors(document)
  const meta = { ...known, ...metadataOf(document, baseOf(document, url)) }
  const warnings = complete ? [] : [`The page has more than ${DOM_CAPS.elementsMax} elements; the rest was left out.`]
  if (!complete && !/\S/.test(document.body.textContent ?? '')) {
    return failure('bad_document', `The page has no text among its first ${DOM_CAPS.elementsMax} elements.`)
  }
  const held = new HeldText()
  repair(document)
  normalise(document, url, held)

  if (mode === 'full') {
    dropUnreadable(document.body)
    return done(toMarkdown(document.body, held), meta, warnings)
  }
  const main = mainContent(document, elements)
  if (mode === 'article' && !isArticle(main)) {
    return failure('no_article', 'No main content was found on the page.')
  }
  const text = () => ({ content: held.restoreInline(plainText(main.root)), warnings: [] })
  return done(mode === 'text' ? text() : toMarkdown(main.root, held), meta, warnings)
}

const isArticle = ({ by, words }: MainContent) => by === 'readability' && words >= ARTICLE_WORDS_MIN

function done({ content, warnings }: Written, meta: DocumentMeta, earlier: readonly string[]): Conversion {
  if (!/\S/.test(content)) return failure('empty', 'The page has no text.')
  return { content, meta, warnings: [...earlier, ...warnings] }
}
