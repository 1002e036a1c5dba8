import type { Mode } from '../../../jobs/schema.ts'
import type { Conversion, DocumentMeta } from '../document.ts'
import { failure } from '../failure.ts'
import { baseOf } from './base.ts'
import { dropUnreadable } from './clean.ts'
import { DOM_CAPS, FLATTENED, type ParsedPage, parsePage } from './dom.ts'
import { doubtsOf } from './emptiness/doubts.ts'
import { emptinessOf } from './emptiness/emptiness.ts'
import { type PageSigns, signsOf } from './emptiness/page-signs.ts'
import { HeldText, withoutTokens } from './held-text.ts'
import { linksOf } from './links-of.ts'
import { type MainContent, mainContent } from './main-content.ts'
import { toMarkdown, type Written } from './markdown.ts'
import { metadataJson } from './metadata-json.ts'
import { metadataOf } from './metadata.ts'
import type { DomElement } from './nodes.ts'
import { normalise } from './normalise.ts'
import { plainText } from './plain-text.ts'
import { dropHeadingAnchors } from './prepare/links.ts'
import { repair } from './repair.ts'
import { safeHtml } from './safe-html.ts'

/** Words that Readability must find for a page to count as an article. */
const ARTICLE_WORDS_MIN = 40
const TOO_MANY_LINKS = 'The page has too many links; the last of them were left out.'
const BAD_JSON_LD = 'Some of the JSON-LD is too large or nested too deep, and was left out.'

export type PageMode = Exclude<Mode, 'raw'>

/** A page that has been parsed. */
interface Page extends ParsedPage {
  readonly url: string
  readonly base: string
  readonly meta: DocumentMeta
  readonly signs: PageSigns
  readonly warnings: readonly string[]
}

/** Converts an HTML page that has been decoded. */
export function convertPage(source: string, url: string, mode: PageMode, known: DocumentMeta): Conversion {
  const parsed = parsePage(withoutTokens(source))
  const { document, complete } = parsed
  if (!complete && !/\S/.test(document.body.textContent ?? '')) {
    return failure('bad_document', `The page has no text among its first ${DOM_CAPS.elementsMax} elements.`)
  }
  const base = baseOf(document, url)
  const links = mode === 'links' ? linksOf(document, base, url) : undefined
  dropHeadingAnchors(document)
  const meta = { ...known, ...metadataOf(document, base) }
  repair(document)
  const signs = signsOf(document)
  const empty = emptinessOf(signs)
  const warnings = [...cutsOf(parsed), ...(empty ? [empty.message] : [])]
  const page = { ...parsed, url, base, meta, signs, warnings }
  if (links) return data(links.links, page, links.complete ? [] : [TOO_MANY_LINKS])
  if (mode === 'metadata') {
    const about = metadataJson(document, meta)
    return data(about.json, page, about.complete ? [] : [BAD_JSON_LD])
  }
  if (empty && empty.code !== 'warning') return failure(empty.code, empty.message)
  return contentPage(page, mode)
}

function cutsOf({ complete, flattened }: ParsedPage): string[] {
  const cuts: string[] = []
  if (!complete) cuts.push(`The page has more than ${DOM_CAPS.elementsMax} elements; the rest was left out.`)
  if (flattened) cuts.push(FLATTENED)
  return cuts
}

const data = (value: object, { meta, warnings }: Page, more: readonly string[]): Conversion => ({
  content: JSON.stringify(value, undefined, 2),
  json: 'document',
  meta,
  warnings: [...warnings, ...more],
})

function contentPage(page: Page, mode: PageMode): Conversion {
  const { document, url, base, signs } = page
  const held = new HeldText()
  normalise(document, url, base, held)
  if (mode === 'full') {
    dropUnreadable(document.body)
    return done(toMarkdown(document.body, held), signs.words, page)
  }
  const main = mainContent(page, URL.parse(url)?.hostname ?? '')
  if (mode === 'article' && signs.words > 0 && !isArticle(main)) {
    return failure('no_article', 'No main content was found on the page.')
  }
  return done(written(main.root, mode, held), main.words, page)
}

function written(root: DomElement, mode: PageMode, held: HeldText): Written {
  if (mode === 'text') return { content: held.restoreInline(plainText(root)), warnings: [] }
  if (mode === 'html') return { content: safeHtml(root, held), warnings: [] }
  return toMarkdown(root, held)
}

const isArticle = ({ by, words }: MainContent) => by === 'readability' && words >= ARTICLE_WORDS_MIN

function done({ content, warnings }: Written, words: number, { meta, signs, warnings: earlier }: Page): Conversion {
  if (/\S/.test(content)) return { content, meta, warnings: [...earlier, ...doubtsOf(signs, words), ...warnings] }
  if (signs.scripts > 0) return failure('needs_javascript', 'The page has no text until its scripts run.')
  return failure('empty', signs.words === 0 ? 'The page has no text.' : 'The page holds menus and the like only.')
}
