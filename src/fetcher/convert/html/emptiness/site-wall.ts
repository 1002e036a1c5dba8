import { all, type DomElement } from '../nodes.ts'
import { BARE_WORDS_MAX, type Certainty, type PageSigns, shownWords } from './page-signs.ts'
import { asksForScripts } from './script-shell.ts'
import { titleParts } from './titles.ts'

/** Words of prose up to which a page with the markup, or with the title, of a check may be one and no report of one. */
const MARKED_WORDS_MAX = 150
const TITLED_WORDS_MAX = 100
const WAIT_WORDS_MAX = 40
/** The same for a page with a form to log in, or with a widget that guards it. */
const LOGIN_WORDS_MAX = 60
/** Words of a page, menus and all, that has hardly anything. */
const BARE_PAGE_WORDS_MAX = 20
/** The same of a page that is a form, and words around the form. Some servers wrap each page of theirs in one. */
const FORM_PAGE_WORDS_MAX = 30
const AROUND_FORM_WORDS_MAX = 10
/** Seconds after which a check loads the page again. */
const REFRESH_S_MAX = 30

/** What only the checks of the large vendors have in their pages. */
const CHECK_MARKUP = [
  '#challenge-running,#challenge-error-text,#cf-challenge-running,#cf-error-details',
  '[src*="captcha-delivery.com"]',
  '#px-captcha,#px-captcha-wrapper',
  'iframe[src*="_Incapsula_Resource"]',
  '#sec-cpt-if,#sec-if-cpt-container,[src*="/_sec/cp_challenge/"]',
  '[src*=".token.awswaf.com/"]',
  'script[src*="/ips.js?"]',
  'script#anubis_challenge,script#anubis_version',
  'form[action*="/errors/validateCaptcha"],form[action*="/sorry/"]',
].join(',')
/** What checks have, and what other sites may call a form of theirs, in which one can write. */
const CHECK_FORM = '#challenge-form,form#captcha-form'
const CHECK_PROGRAM = /\b(?:_cf_chl_opt|gokuProps|sucuri_cloudproxy_js)\b/
const CHECK_WIDGET = '.g-recaptcha,.h-captcha,.cf-turnstile,.geetest_captcha,#captcha'
const FIELDS = 'textarea,input:not([type]),input[type=text],input[type=email],input[type=search],input[type=tel]'

const CHECK_TITLES = new RegExp(
  `^(?:${[
    'attention required!?',
    'access (?:to this page )?(?:has been |is |was )?(?:denied|blocked|restricted)|request (?:was )?blocked|you have been blocked|sorry, you have been blocked|403 forbidden|error 403',
    'pardon our interruption|are you (?:a )?(?:human|robot)|robot or human|robot check|bot (?:check|verification)|security (?:check|checkpoint|verification)|.{0,20}security checkpoint|human verification',
    "(?:please )?verify(?:ing)? (?:that )?you(?:'|’)?(?: a)?re (?:a |not a )?(?:human|robot|bot)|verification required|making sure you(?:'|’)re not a bot|checking your browser|ddos[- ]guard|ddos protection.*",
    'zugriff verweigert|accès refusé|acceso denegado|accesso negato|acesso negado|доступ (?:запрещ[её]н|ограничен)|odmowa dostępu|toegang geweigerd|访问被拒绝|访问验证|安全验证|アクセスが拒否されました',
  ].join('|')})[\\s.!?…]*$`,
  'i',
)
/** The number under which a site can look up that it refused a request. */
const INCIDENT =
  /\b(?:ray|incident|support|request|reference|event|error)[\s#:]*(?:id|number|code|no\.?)?[\s#:]*(?=[\w.-]{0,20}\d)[\da-f][\da-f.-]{7,}/i
const ACCUSATION =
  /(?:unusual|suspicious|automated|abnormal) (?:traffic|activity|requests|behaviou?r|queries)|(?:ungewöhnlich|verdächtig|automatisiert)e[nr]? (?:aktivität|anfrage|datenverkehr|zugriff)|trafic (?:inhabituel|suspect)|tráfico (?:inusual|sospechoso|incomum)|подозрительн\S+ (?:активност|трафик|запрос)|異常なトラフィック|异常流量/i
/** What a check may be called, and much else: it must be all of the title, on a page that says hardly more. */
const WAIT_TITLES =
  /^(?:just a moment|one moment(?:,? please)?|one more step|please wait|un instant|un momento|(?:nur )?einen moment(?: bitte)?|один момент|captcha|forbidden)[\s.!…]*$/i
const LOGIN_TITLES =
  /^(?:.{0,30}\b)?(?:log ?-?in|log ?on|sign ?-?in|anmeld(?:en|ung)|einloggen|(?:se )?connexion|s(?:'|’)identifier|se connecter|iniciar? sesi[oó]n|inicio de sesión|acceder|iniciar sessão|entrar|acced[ie]|inloggen|logga in|logg inn|log ind|zaloguj(?: się)?|logowanie|přihlášení|giriş(?: yap)?|войти|вход|авторизация|登录|登入|ログイン|로그인|تسجيل الدخول|התחברות)(?:\b.{0,30})?$/iu

/**
 * Whether the page is a check for robots that a site shows instead of what was asked for. That it is called so, or has a
 * widget, is not enough: it must have the markup of one, or hold nothing else.
 */
export function robotCheck(signs: PageSigns): Certainty | undefined {
  if (signs.proseWords > MARKED_WORDS_MAX) return undefined
  if (hasMarkup(signs)) return 'sure'
  const isGuarded = hasWidget(signs)
  if (isTitled(signs)) return isGuarded || isWaiting(signs) || isBare(signs) ? 'sure' : 'doubtful'
  if (!isGuarded || signs.proseWords > LOGIN_WORDS_MAX) return undefined
  const isNothingElse = isBare(signs) && signs.heading === '' && !signs.prose.includes('@')
  return isNothingElse || ACCUSATION.test(signs.prose) ? 'sure' : 'doubtful'
}

function hasMarkup(signs: PageSigns): boolean {
  const { document } = signs
  if (document.querySelector(CHECK_MARKUP) !== null) return true
  if (document.querySelector(CHECK_FORM) !== null && !hasFields(signs)) return true
  return all(document, 'script').some((script) => CHECK_PROGRAM.test(script.textContent ?? ''))
}

const hasWidget = (signs: PageSigns): boolean =>
  signs.document.querySelector(CHECK_WIDGET) !== null && !hasFields(signs)

function isTitled({ titles, proseWords }: PageSigns): boolean {
  if (proseWords <= WAIT_WORDS_MAX && titles.some((title) => WAIT_TITLES.test(title))) return true
  return proseWords <= TITLED_WORDS_MAX && titleParts(titles).some((part) => CHECK_TITLES.test(part))
}

/** Whether the page goes on by itself, asks for scripts or a click and no more, or gives the number of the refusal. */
function isWaiting(signs: PageSigns): boolean {
  const { document, words, prose } = signs
  if (INCIDENT.test(prose) || (words <= BARE_PAGE_WORDS_MAX && asksForScripts(signs))) return true
  if (all(document, 'meta[http-equiv]').some(isRefreshSoon)) return true
  return (
    words <= FORM_PAGE_WORDS_MAX &&
    all(document, 'form').some((form) => words - shownWords(form).words <= AROUND_FORM_WORDS_MAX)
  )
}

function isRefreshSoon(meta: DomElement): boolean {
  if (meta.getAttribute('http-equiv')?.toLowerCase() !== 'refresh') return false
  return Number.parseFloat(meta.getAttribute('content') ?? '') <= REFRESH_S_MAX
}

const isBare = ({ words, otherWords }: PageSigns): boolean =>
  otherWords <= BARE_WORDS_MAX && words <= BARE_PAGE_WORDS_MAX

/** Whether the page is a form to log in and little else. */
export function isLogin(signs: PageSigns): boolean {
  if (signs.proseWords > LOGIN_WORDS_MAX || signs.document.querySelector('input[type=password]') === null) return false
  return titleParts(signs.titles).some((part) => LOGIN_TITLES.test(part))
}

/** A form to write in, such as one to get in touch, is what the page is for; the widget only guards it. */
const hasFields = ({ document }: PageSigns): boolean => document.querySelector(FIELDS) !== null
