import type { TargetErrorCode } from '../../../../jobs/target-error.ts'
import { saysNotFound } from './not-found.ts'
import type { PageSigns } from './page-signs.ts'
import { isScriptShell } from './script-shell.ts'
import { isLogin, isRobotCheck } from './site-wall.ts'

/** Words of prose up to which a page that says it does not exist is believed, and up to which it is doubted. */
const MISSING_WORDS_MAX = 60
const MISSING_DOUBT_WORDS_MAX = 150

/** Why a page that was answered with success is not the page that was asked for. */
export interface Emptiness {
  /** A warning goes with content that may be the page all the same. */
  readonly code: TargetErrorCode | 'warning'
  /** One sentence for the caller. */
  readonly message: string
}

/**
 * Tells a page from what sites show instead of it. It needs two signs, what a page says or is made of and how little
 * text it has, so that an article about robots' checks or missing pages is never taken for one.
 */
export function emptinessOf(signs: PageSigns): Emptiness | undefined {
  const { proseWords } = signs
  if (isRobotCheck(signs)) {
    return { code: 'blocked_by_site', message: 'The site shows a check for robots, or a refusal, instead of the page.' }
  }
  if (saysNotFound(signs) && proseWords <= MISSING_WORDS_MAX) {
    return { code: 'soft_404', message: 'The page says that it does not exist, although the server answered success.' }
  }
  if (isLogin(signs))
    return { code: 'blocked_by_site', message: 'The site asks for a login instead of showing the page.' }
  if (isScriptShell(signs)) {
    return { code: 'needs_javascript', message: 'The page is empty until its scripts run.' }
  }
  if (saysNotFound(signs) && proseWords <= MISSING_DOUBT_WORDS_MAX) {
    return { code: 'warning', message: 'The title says that there is no such page; this may be an error page.' }
  }
  return undefined
}
