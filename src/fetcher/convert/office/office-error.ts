import type { TargetErrorCode } from '../../../jobs/target-error.ts'

/** An office document cannot be read. `convertOffice` makes it the failure of the conversion. */
export class OfficeError extends Error {
  override readonly name = 'OfficeError'
  readonly code: TargetErrorCode

  /** @param message one sentence for the caller. */
  constructor(code: TargetErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
