import type { TargetErrorCode } from '../../../../jobs/target-error.ts'
import { notFound } from './not-found.ts'
import type { PageSigns } from './page-signs.ts'
import { isScriptShell } from './script-shell.ts'
import { isLogin, robotCheck } from './site-wall.ts'

/** Why a page that was answered with success is not the page that was asked for. */
export interface Emptiness {
  /** A warning goes with content that may be the page all the same. */
  readonly code: TargetErrorCode | 'warning'
  /** One sentence for the caller. */
  readonly message: string
}

/**
 * Tells a page from what sites show instead of it. A failure needs little text and more than a title: markup that only
 * such pages have, or a sentence, or that there is nothing else. With a title alone, which may be that of a film or a
 * short article about the matter, there is a warning.
 */
export function emptinessOf(signs: PageSigns): Emptiness | undefined {
  const check = robotCheck(signs)
  const missing = notFound(signs)
  if (check === 'sure') {
    return { code: 'blocked_by_site', message: 'The site shows a check for robots, or a refusal, instead of the page.' }
  }
  if (missing === 'sure') {
    return { code: 'soft_404', message: 'The page says that it does not exist, although the server answered success.' }
  }
  if (isLogin(signs)) {
    return { code: 'blocked_by_site', message: 'The site asks for a login instead of showing the page.' }
  }
  if (isScriptShell(signs)) {
    return { code: 'needs_javascript', message: 'The page is empty until its scripts run.' }
  }
  if (check) return { code: 'warning', message: 'This may be a check for robots, or a refusal, instead of the page.' }
  if (missing) {
    return { code: 'warning', message: 'The title says that there is no such page; this may be an error page.' }
  }
  return undefined
}
