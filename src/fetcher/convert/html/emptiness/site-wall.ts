import { all } from '../nodes.ts'
import type { PageSigns } from './page-signs.ts'
import { titleParts } from './titles.ts'

/** Words of prose up to which a page with the markup, or only the title, of a check is the check and no report of one. */
const MARKED_WORDS_MAX = 150
const TITLED_WORDS_MAX = 100
const WAIT_WORDS_MAX = 40
/** The same for a page with a form to log in. */
const LOGIN_WORDS_MAX = 60

/** What only the checks of the large vendors have in their pages. */
const CHECK_MARKUP = [
  '#challenge-form,#challenge-running,#challenge-error-text,#cf-challenge-running,#cf-error-details',
  '[src*="captcha-delivery.com"]',
  '#px-captcha,#px-captcha-wrapper',
  'iframe[src*="_Incapsula_Resource"]',
  '#sec-cpt-if,#sec-if-cpt-container,[src*="/_sec/cp_challenge/"]',
  '[src*=".awswaf.com/"][src*="challenge"],[src*=".awswaf.com/"][src*="captcha"]',
  'script[src*="/ips.js?"]',
  'script#anubis_challenge,script#anubis_version',
  'form#captcha-form,form[action*="/errors/validateCaptcha"],form[action*="/sorry/"]',
].join(',')
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
/** What a check may be called, and much else: it must be all of the title, on a page that says hardly more. */
const WAIT_TITLES =
  /^(?:just a moment|one moment(?:,? please)?|one more step|please wait|un instant|un momento|(?:nur )?einen moment(?: bitte)?|один момент|captcha|forbidden)[\s.!…]*$/i
const LOGIN_TITLES =
  /^(?:.{0,30}\b)?(?:log ?-?in|log ?on|sign ?-?in|anmeld(?:en|ung)|einloggen|(?:se )?connexion|s(?:'|’)identifier|se connecter|iniciar? sesi[oó]n|inicio de sesión|acceder|iniciar sessão|entrar|acced[ie]|inloggen|logga in|logg inn|log ind|zaloguj(?: się)?|logowanie|přihlášení|giriş(?: yap)?|войти|вход|авторизация|登录|登入|ログイン|로그인|تسجيل الدخول|התחברות)(?:\b.{0,30})?$/iu

/** Whether the page is a check for robots that a site shows instead of what was asked for. */
export function isRobotCheck(signs: PageSigns): boolean {
  const { document, proseWords, titles } = signs
  if (proseWords <= WAIT_WORDS_MAX && titles.some((title) => WAIT_TITLES.test(title))) return true
  if (proseWords <= TITLED_WORDS_MAX && titleParts(signs).some((part) => CHECK_TITLES.test(part))) return true
  if (proseWords > MARKED_WORDS_MAX) return false
  if (document.querySelector(CHECK_MARKUP) !== null) return true
  if (all(document, 'script').some((script) => CHECK_PROGRAM.test(script.textContent ?? ''))) return true
  return proseWords <= LOGIN_WORDS_MAX && document.querySelector(CHECK_WIDGET) !== null && !hasFields(signs)
}

/** Whether the page is a form to log in and little else. */
export function isLogin(signs: PageSigns): boolean {
  if (signs.proseWords > LOGIN_WORDS_MAX || signs.document.querySelector('input[type=password]') === null) return false
  return titleParts(signs).some((part) => LOGIN_TITLES.test(part))
}

/** A form to write in, such as one to get in touch, is what the page is for; the widget only guards it. */
const hasFields = ({ document }: PageSigns): boolean => document.querySelector(FIELDS) !== null
