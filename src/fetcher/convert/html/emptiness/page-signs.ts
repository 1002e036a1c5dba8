import { jsonLdOf } from '../json-ld.ts'
import { all, type DomDocument, type DomElement, type DomNode, isElement, isText, lineOf } from '../nodes.ts'
import { countWords } from '../words.ts'

/** What tells whether a page shows what it was asked for. */
export interface PageSigns {
  readonly document: DomDocument
  /** The `title`, and the first heading. */
  readonly titles: readonly string[]
  /** Empty if there is none. */
  readonly heading: string
  /** Words that a reader sees. */
  readonly words: number
  /** Those of them outside links, controls, and what frames a page. */
  readonly proseWords: number
  /** Those of the latter that are not in the heading. */
  readonly otherWords: number
  /** The beginning of the prose, a line for each text node. */
  readonly prose: string
  /** Programs in the page or announced by it; data in a `script` is none. */
  readonly scripts: number
  /** False if the page says that its text must be paid for. */
  readonly isFree: boolean
}

/** How sure it is that a page is not the one that was asked for. What is `doubtful` is a success with a warning. */
export type Certainty = 'sure' | 'doubtful'

/** Words beside a title that says what the page is, up to which the page says nothing else. */
export const BARE_WORDS_MAX = 5
/** Characters of prose that are kept: more than has any page that shows something else instead. */
const PROSE_LENGTH_MAX = 4_000
/** Characters of a title that are looked at. */
const TITLE_LENGTH_MAX = 300
/** Words from which on it does not matter how many more there are. */
const COUNTED_MAX = 1_000
const UNSEEN = new Set(
  'script style noscript template title svg canvas iframe object select option textarea'.split(' '),
)
const FRAME = new Set('a nav header footer aside button label dialog'.split(' '))
const FRAME_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'dialog', 'alertdialog', 'search'])
const FRAME_NAMES = /(?:^|[\s_-])(?:cookies?|consent|gdpr|footer|menu|nav|navbar)(?:$|[\s_-])/i
const PRELOADED = 'link[rel=modulepreload],link[rel=preload][as=script]'
const PROGRAM_TYPE = /^(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script.*)$/i

/** Reads the signs of a page as it was parsed. Comes before anything changes it. */
export function signsOf(document: DomDocument): PageSigns {
  const titleOf = (name: string) => lineOf(document.querySelector(name)).slice(0, TITLE_LENGTH_MAX)
  const heading = titleOf('h1')
  const shown = shownWords(document.body)
  const scripts = all(document, 'script').filter((script) =>
    PROGRAM_TYPE.test(script.getAttribute('type')?.trim() ?? ''),
  )
  return {
    document,
    titles: [titleOf('title'), heading].filter((text) => text !== ''),
    heading,
    ...shown,
    otherWords: Math.max(0, shown.proseWords - countWords(heading)),
    scripts: scripts.length + all(document, PRELOADED).length,
    isFree: jsonLdOf(document).isFree,
  }
}

/** Counts the words below an element in one pass, up to as many as make a page of text. */
export function shownWords(root: DomElement): Pick<PageSigns, 'words' | 'proseWords' | 'prose'> {
  let words = 0
  let proseWords = 0
  let prose = ''
  const stack: { readonly node: DomNode; readonly framed: boolean }[] = [{ node: root, framed: false }]
  for (let next = stack.pop(); next !== undefined && proseWords < COUNTED_MAX; next = stack.pop()) {
    const { node, framed } = next
    if (isText(node)) {
      const count = countWords(node.data)
      words += count
      if (framed || count === 0) continue
      proseWords += count
      prose = `${prose}${node.data.trim()}\n`.slice(0, PROSE_LENGTH_MAX)
    } else if (isElement(node) && !UNSEEN.has(node.localName)) {
      const below = framed || isFrame(node)
      for (let child = node.lastChild; child !== null; child = child.previousSibling)
        stack.push({ node: child, framed: below })
    }
  }
  return { words, proseWords, prose }
}

const isFrame = (element: DomElement): boolean =>
  FRAME.has(element.localName) ||
  FRAME_ROLES.has(element.getAttribute('role') ?? '') ||
  (element.localName !== 'body' &&
    FRAME_NAMES.test(`${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`))
