import { Readability } from '@mozilla/readability'

import { clean } from './clean.ts'
import type { ParsedPage } from './dom.ts'
import { mainRoot } from './main-root.ts'
import {
  all,
  type DomDocument,
  type DomElement,
  type DomNode,
  isElement,
  lineOf,
  moveChildren,
  replace,
} from './nodes.ts'
import { plainText } from './plain-text.ts'
import { NAMES_ATTRIBUTE, trimArticle } from './trim.ts'
import { countWords } from './words.ts'

/** Elements above which Readability, which is not linear, is left out. So it is on a page that had to be flattened. */
const READABILITY_ELEMENTS_MAX = 30_000
const DEEP_TABLES = 'table table table table table table table'
/** The share of the cleaned page's words that Readability must keep to be trusted. */
const SHARE_MIN = 0.5
/** The same on a page that says it is an article, where much else may stand around the text. */
const ARTICLE_SHARE_MIN = 0.1
/** Words below which even an article's share says nothing. */
const ARTICLE_WORDS_MIN = 60
/** Characters of a title that Readability may see. */
const TITLE_LENGTH_MAX = 1_000
/** Characters at the start of the content in which its title is looked for. */
const TITLE_WITHIN = 400

export interface MainContent {
  readonly root: DomElement
  readonly words: number
  /** What found it. `clean`: the page without its frame; only `readability` tells that there is an article. */
  readonly by: 'readability' | 'clean'
}

/**
 * Finds the main content of a page. Changes the document: take from it what you need before.
 *
 * Readability finds articles and loses much of other pages; the cleaner keeps everything that is not a page's frame.
 * Readability is trusted if it keeps enough of the words that the cleaner keeps.
 */
export function mainContent({ document, elements, flattened }: ParsedPage, host: string): MainContent {
  const isArticle = saysArticle(document)
  const title = lineOf(document.querySelector('h1'))
  clean(document.body)
  if (isArticle) dropComments(document.body)
  const isReadable = elements <= READABILITY_ELEMENTS_MAX && !flattened
  const article = isReadable ? readArticle(document) : undefined
  const root = mainRoot(document.body)
  const words = countWords(plainText(root))
  if (article) {
    const text = plainText(article)
    const articleWords = countWords(text)
    const shareMin = isArticle && articleWords > ARTICLE_WORDS_MIN ? ARTICLE_SHARE_MIN : SHARE_MIN
    if (articleWords > words * shareMin) {
      if (isArticle) trimArticle(article, host)
      if (title !== '') restoreTitle(article, title, text)
      return { root: article, words: articleWords, by: 'readability' }
    }
  }
  return { root, words, by: 'clean' }
}

const COMMENTS = '#comments,#respond,#disqus_thread,.comments-area,.comment-list,.comment-respond,.commentlist'

/** Takes away what readers wrote below an article, however much it is. */
function dropComments(body: DomElement): void {
  for (const element of all(body, COMMENTS)) if (element.querySelector('h1,article') === null) element.remove()
}

const asItIs = (node: DomNode): DomNode => node

/** Readability takes the tree apart, so it gets a copy. */
function readArticle(document: DomDocument): DomElement | undefined {
  if (document.querySelector(DEEP_TABLES) !== null) return undefined
  const copy = document.cloneNode(true)
  shortenTitle(copy)
  passNames(copy)
  try {
    const reader = new Readability<DomNode>(copy, { keepClasses: true, serializer: asItIs })
    const content = reader.parse()?.content
    return content && isElement(content) ? content : undefined
  } catch {
    return undefined // It was written for pages that browsers show; what it cannot read, the cleaner reads.
  }
}

/** Readability compares each word of the title with each word of the headings. */
function shortenTitle(document: DomDocument): void {
  const title = document.querySelector('title')
  if (title && (title.textContent ?? '').length > TITLE_LENGTH_MAX) {
    title.textContent = (title.textContent ?? '').slice(0, TITLE_LENGTH_MAX)
  }
}

/** Readability puts the only paragraph of a block in its place; its names tell what the paragraph is. */
function passNames(document: DomDocument): void {
  for (const paragraph of all(document, 'div > p:only-child')) {
    const { parentElement } = paragraph
    const names = `${parentElement?.getAttribute('class') ?? ''} ${parentElement?.getAttribute('id') ?? ''}`
    paragraph.setAttribute(NAMES_ATTRIBUTE, names)
  }
}

/** Readability drops the heading that names the article, or makes it one among others. */
function restoreTitle(article: DomElement, title: string, text: string): void {
  const heading = article.ownerDocument.createElement('h1')
  const demoted = article.querySelector('h2')
  if (demoted !== null && lineOf(demoted) === title) {
    moveChildren(demoted, heading)
    replace(demoted, heading)
  } else if (!text.slice(0, TITLE_WITHIN).includes(title)) {
    heading.textContent = title
    article.insertBefore(heading, article.firstChild)
  }
}

const ARTICLE_TYPES =
  /"@type"\s*:\s*(?:\[\s*)?"(?:\w*NewsArticle|(?:Tech|Scholarly)?Article|(?:Live)?Blog(?:Posting)|Recipe|Report)"/

/** Whether a page calls itself an article, by Open Graph or JSON-LD. */
function saysArticle(document: DomDocument): boolean {
  const type = document.querySelector('meta[property="og:type"]')?.getAttribute('content') ?? ''
  if (/article/i.test(type)) return true
  if (document.querySelector('[itemprop~=articleBody],[itemtype$=NewsArticle],[itemtype$=BlogPosting]') !== null)
    return true
  const scripts = document.querySelectorAll('script[type="application/ld+json"]')
  return [...scripts].some((script) => ARTICLE_TYPES.test(script.textContent ?? ''))
}
