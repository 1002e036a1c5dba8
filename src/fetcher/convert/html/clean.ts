import { measureText, type TextSize } from './measure.ts'
import { all, type DomElement, isInside } from './nodes.ts'

/** The share of a page's text that one rule may take away. A rule that would take more has met a page it does not fit. */
const RULE_SHARE_MAX = 0.5
/** The same for one element that is only known by its class or id. */
const NAMED_SHARE_MAX = 0.4
/** From this share of linked text on, a block is navigation. */
const LINK_DENSITY_MIN = 0.5

const UNREADABLE =
  'script,style,template,svg,canvas,link,meta,noscript,iframe,object,embed,select,button,input,textarea'
const ROLES = ['navigation', 'banner', 'contentinfo', 'search', 'dialog', 'alertdialog', 'menu', 'menubar']
const FRAME = ['nav', 'dialog', '[aria-modal=true]', ...ROLES.map((role) => `[role=${role}]`)].join(',')
const NAMED = 'div,section,ul,ol,header,footer,aside,p,span,table,form'
const HIDDEN_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden/i
const BOILERPLATE_NAME = new RegExp(
  `(^|[\\s_-])(${[
    'cookies?|consent|gdpr|ccpa|newsletter|subscri(be|ption)|social|share|sharing|sharedaddy|breadcrumbs?',
    'sidebar|side-bar|navbar|nav|navigation|menu|mega-?menu|footer|site-header|page-header-nav|topbar|top-bar',
    'related|recommend(ed|ations?)?|advert(isement)?|ads?|sponsor(ed)?|promo|modal|popup|pop-up|overlay',
    'skip-link|skip-to-content|pagination|pager|login|signin|sign-in|cart|minicart|toolbar|search-?form|searchbar',
    'filters?|facets?|offcanvas|off-canvas|toast|widget-area|screen-reader-text|sr-only|visually-?hidden',
  ].join('|')})($|[\\s_-])`,
  'i',
)

/**
 * Takes away what frames the content of a page: navigation, banners, footers, dialogs, hidden and named boilerplate.
 * It looks at structure and names, never at what the text says. No rule takes more than half of the page's text.
 */
export function clean(body: DomElement): void {
  dropUnreadable(body)
  const sizeOf = measureText(body)
  const total = Math.max(1, sizeOf(body).text)
  const apply = (victims: readonly DomElement[]) => removeGuarded(victims, body, sizeOf, total)

  apply(all(body, FRAME))
  apply(all(body, '[hidden]'))
  apply(all(body, 'footer').filter(isOfPage))
  apply(all(body, 'header').filter((element) => isOfPage(element) && element.querySelector('h1') === null))
  apply(all(body, 'aside,[role=complementary]'))
  apply(all(body, '[style]').filter((element) => HIDDEN_STYLE.test(element.getAttribute('style') ?? '')))
  apply(all(body, NAMED).filter((element) => isNamedBoilerplate(element, sizeOf(element).text, total)))
}

/** Takes away what never reads as text. */
export function dropUnreadable(body: DomElement): void {
  for (const element of all(body, UNREADABLE)) element.remove()
}

/** Not the header or footer of an article in it. */
const isOfPage = (element: DomElement) => element.closest('article,main') === null

function isNamedBoilerplate(element: DomElement, size: number, total: number): boolean {
  const names = `${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`
  if (!BOILERPLATE_NAME.test(names) || size > total * NAMED_SHARE_MAX) return false
  return element.querySelector('main,article,h1,pre') === null
}

/** Removes the victims of one rule. If they are more than half of the text, only those that are navigation go. */
function removeGuarded(
  victims: readonly DomElement[],
  body: DomElement,
  sizeOf: (element: DomElement) => TextSize,
  total: number,
): void {
  const chosen = new Set<DomElement>()
  let size = 0
  for (const victim of victims) {
    if (!isInside(victim, body) || hasAncestorIn(victim, chosen)) continue
    chosen.add(victim)
    size += sizeOf(victim).text
  }
  const fits = size < total * RULE_SHARE_MAX
  for (const victim of chosen) {
    const { text, linked } = sizeOf(victim)
    if (fits || linked >= text * LINK_DENSITY_MIN) victim.remove()
  }
}

/** Document order: an ancestor is met before what is in it. */
function hasAncestorIn(element: DomElement, chosen: ReadonlySet<DomElement>): boolean {
  for (let at = element.parentElement; at !== null; at = at.parentElement) if (chosen.has(at)) return true
  return false
}
