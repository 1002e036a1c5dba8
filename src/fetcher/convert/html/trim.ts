import { measureText, type TextSize } from './measure.ts'
import { all, ancestor, type DomElement, isInside, lineOf } from './nodes.ts'
import { countWords } from './words.ts'

/** Where an element has the names of another that was around it. */
export const NAMES_ATTRIBUTE = 'data-names-around'
const NAMING = ['class', 'id', NAMES_ATTRIBUTE]
/** The share of an article's text that one block may hold that is taken away, and that one rule may take. */
const BLOCK_SHARE_MAX = 0.25
const RULE_SHARE_MAX = 0.4
/** From this share of linked text on, a block leads elsewhere. */
const LINK_DENSITY_MIN = 0.8
/** Characters, without blanks, of a line about the article: who wrote it, when, who took the picture. */
const LINE_LENGTH_MAX = 220
/** The same if only its element tells, not its name. */
const BARE_LINE_LENGTH_MAX = 60
/** Characters around an inline element from which it is part of a sentence. */
const SENTENCE_LENGTH_MIN = 60
/** Characters of a block of links, and of a paragraph that points to another page. */
const LINKS_LENGTH_MAX = 20_000
const POINTER_LENGTH_MAX = 300
/** Words before a link that make the two a pointer, as in "Read also:". */
const LABEL_WORDS_MAX = 4
/** Words of a link that can be the title of something else. */
const TITLE_WORDS_MIN = 4

const BLOCKS = 'div,section,aside,p,ul,ol,dl,header,footer,form,figure,blockquote,h2,h3,h4,h5,h6'
const LINES = 'div,section,p,ul,span,small,time,a,address,em,cite,li,figcaption,header,footer,dl'
const INLINE = new Set(['span', 'small', 'time', 'a', 'em', 'cite'])
const FACTS = 'time,[rel~=author],[itemprop~=author],[itemprop~=datePublished],[itemprop~=dateModified]'
const LINK_BLOCKS = 'p,ul,ol,div,section'
const ITEMS = new Set(['li', 'dd'])
const PROSE = new Set(['p', 'li', 'dd', 'blockquote', 'h2', 'h3', 'h4', 'h5', 'h6'])
const KEPT_INSIDE = new Set(['pre', 'code', 'table'])
/** What no name tells to drop. */
const KEPT_AROUND = 'h1,table,pre'

const nameOf = (words: readonly string[]) => new RegExp(`(?:^|[\\s_-])(?:${words.join('|')})(?:$|[\\s_-])`)

/** What a site adds to its articles. */
const ADDED_NAME = nameOf([
  'comments?|comments?-(?:list|area|section|form|count)|respond|disqus(?:-thread)?|replies',
  'newsletters?(?:-\\w+)?|sign-?up|subscribe|opt-?in|promo(?:-?box)?|advert|ad-\\w+|app-?promo',
  'read-?(?:more|also|next|on)|see-?(?:also|more)|also-?(?:on|read)|up-?next|next-?article',
  'more-?(?:from|on|stories|news|like)|most-?read|linked-?stories|story-?package',
  'related(?:-?\\w+)?|recirc(?:ulation)?|recommended?|trending|popular|latest',
  'share|shar(?:e|ing)-?\\w+|social(?:-\\w+)?|follow(?:-?us)?',
  'tags?(?:-?list)?|tag-?links|keywords|cat-?links|categories|breadcrumbs?|filed-?under',
  '(?:about-?(?:the-?)?)?author-?(?:bio|box|info|card|profile|description)|contributor(?:-?\\w+)?|bio|biography',
])
/** Lines about an article. */
const LINE_NAME = nameOf([
  'by-?lines?|authors?(?:-?\\w+)?|written-?by|date-?lines?|datetime|date|timestamps?|time-stamp|time|pub-?date',
  'published(?:-?\\w+)?|updated|posted-?on|kicker|eyebrow|reading-?time|read-?time',
  'meta|(?:post|entry|article|story|content|blog)-?(?:meta|info|date|details|byline|header-meta)',
  '(?:photo|image|img|media|picture|caption)?-?(?:credits?|copyright|source|agency)|photographer',
])

/**
 * Takes away what a site adds to its articles: pointers to others, newsletters, comments, tags, and the lines that
 * `meta` tells anyway. It goes by structure and names, never by what the text says.
 * @param root the article, with absolute links.
 * @param host of the page. Links to other sites are content: sources, products.
 */
export function trimArticle(root: DomElement, host: string): void {
  const sizeOf = measureText(root)
  const apply = (victims: readonly DomElement[]) => removeSmall(victims, root, sizeOf)
  const isLine = (element: DomElement, lengthMax: number) =>
    sizeOf(element).text <= lengthMax && !isInSentence(element, sizeOf)
  const outsideLists = (selector: string) => all(root, selector).filter((element) => !ancestor(element, ITEMS))

  apply(all(root, BLOCKS).filter((element) => ADDED_NAME.test(namesOf(element))))
  apply(all(root, LINES).filter((element) => LINE_NAME.test(namesOf(element)) && isLine(element, LINE_LENGTH_MAX)))
  apply(all(root, FACTS).filter((element) => isLine(element, BARE_LINE_LENGTH_MAX)))
  apply(outsideLists(LINK_BLOCKS).filter((element) => leadsElsewhere(element, sizeOf(element), host)))
  apply(outsideLists('p,div').filter((element) => isPointer(element, sizeOf(element), host)))
}

/** Removes the victims of one rule that are small; none if together they are too much for additions. */
function removeSmall(
  victims: readonly DomElement[],
  root: DomElement,
  sizeOf: (element: DomElement) => TextSize,
): void {
  const total = sizeOf(root).text
  const chosen = new Set<DomElement>()
  let size = 0
  for (const victim of victims) {
    const { text } = sizeOf(victim)
    if (text > total * BLOCK_SHARE_MAX || !isInside(victim, root) || isWithin(victim, chosen)) continue
    if (ancestor(victim, KEPT_INSIDE) || victim.querySelector(KEPT_AROUND) !== null) continue
    chosen.add(victim)
    size += text
  }
  if (size <= total * RULE_SHARE_MAX) for (const victim of chosen) victim.remove()
}

function isWithin(element: DomElement, chosen: ReadonlySet<DomElement>): boolean {
  for (let at = element.parentElement; at !== null; at = at.parentElement) if (chosen.has(at)) return true
  return false
}

const wordsOf = (element: DomElement) => countWords(element.textContent ?? '')

/** Class and id, their words apart by hyphens however they are written. */
function namesOf(element: DomElement): string {
  const names = NAMING.map((name) => element.getAttribute(name) ?? '').join(' ')
  return names.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase()
}

function isInSentence(element: DomElement, sizeOf: (element: DomElement) => TextSize): boolean {
  if (!INLINE.has(element.localName)) return false
  const block = ancestor(element, PROSE)
  return block !== undefined && sizeOf(block).text - sizeOf(element).text >= SENTENCE_LENGTH_MIN
}

/** A block of links with the titles of other pages of the site. */
function leadsElsewhere(element: DomElement, { text, linked }: TextSize, host: string): boolean {
  if (text === 0 || text > LINKS_LENGTH_MAX || linked < text * LINK_DENSITY_MIN) return false
  const links = all(element, 'a[href]')
  return links.some((link) => wordsOf(link) >= TITLE_WORDS_MIN) && links.every((link) => isOfSite(link, host))
}

/** A few words, the title of another page of the site, and nothing after it. */
function isPointer(element: DomElement, { text: length, linked }: TextSize, host: string): boolean {
  if (linked === 0 || length > POINTER_LENGTH_MAX) return false
  const [link, second] = all(element, 'a[href]')
  if (!link || second || wordsOf(link) < TITLE_WORDS_MIN || !isOfSite(link, host)) return false
  const text = lineOf(element)
  const title = lineOf(link)
  return text.endsWith(title) && countWords(text.slice(0, -title.length)) <= LABEL_WORDS_MAX
}

/** Whether the two hosts end alike, which is as much as names tell of a site. */
function isOfSite(link: DomElement, host: string): boolean {
  const other = URL.parse(link.getAttribute('href') ?? '')?.hostname ?? ''
  const site = host.split('.').slice(-2).join('.')
  return other === site || other.endsWith(`.${site}`)
}
