import type { TargetErrorCode } from '../../jobs/target-error.ts'
import type { Failed } from './document.ts'

/** A conversion that gives nothing. @param message one sentence for the caller. */
export const failure = (code: TargetErrorCode, message: string): Failed => ({ failure: { code, message } })
