import { lineOf } from '../nodes.ts'
import { type PageSigns, shownWords } from './page-signs.ts'

/** Words of a page that says it needs scripts, and of one that shows another sign of it, up to which it is a shell. */
const NOTICE_WORDS_MAX = 60
const WAITING_WORDS_MAX = 30
/** Words in the root of an application up to which it is empty. */
const ROOT_WORDS_MAX = 5

const ROOTS =
  '#root,#app,#__next,#__nuxt,#___gatsby,#svelte,#react-root,#app-root,#main-app,#application,#ember-app,#q-app,app-root,my-app,[ng-app],[data-reactroot],[data-server-rendered],flutter-view'
const WAITING =
  '[role=progressbar],[aria-busy=true],[class*=spinner],[class*=loader],[class*=loading],[class*=skeleton],[class*=preload],[class*=splash],[id*=loading],[id*=loader],[id*=spinner],[id*=splash]'
const WANTED =
  'enabled?|activate|turn on|switch on|requires?|required|needs?|needed|without|disabled|supported|aktivier|deaktivier|benötig|activ|désactiv|nécessaire|habilit|desactiv|precisa|abilit|disattiv|włącz|wyłącz|включ|отключ|inschakel|aktiver|有効|無効|启用|禁用|啟用|활성화|사용'
const NOTICE = new RegExp(`(?:${WANTED})[^.!?。]{0,80}java ?script|java ?script[^.!?。]{0,80}(?:${WANTED})`, 'i')

/** Whether scripts would fill the page: it is the shell of an application, or asks for scripts and says no more. */
export function isScriptShell(signs: PageSigns): boolean {
  const { document, words, scripts, prose } = signs
  if (scripts === 0 || words > NOTICE_WORDS_MAX) return false
  if (NOTICE.test(prose)) return true
  if (words > WAITING_WORDS_MAX) return false
  if (asksForScripts(signs)) return true
  const root = document.querySelector(ROOTS)
  return root !== null && (shownWords(root).words <= ROOT_WORDS_MAX || document.querySelector(WAITING) !== null)
}

/** Whether the page tells a reader to switch scripts on. Many a page does so that can be read without them. */
export function asksForScripts({ document, prose }: PageSigns): boolean {
  return NOTICE.test(prose) || [...document.querySelectorAll('noscript')].some((notice) => NOTICE.test(lineOf(notice)))
}
