import { AppError } from '../errors.ts'

export function storageFull(cause: unknown): AppError {
  return new AppError('storage_full', 'The service has no room for more results.', {
    hint: 'Try again later: expired jobs make room.',
    cause,
  })
}

export function storageUnavailable(cause: unknown): AppError {
  return new AppError('storage_unavailable', 'The service cannot use its database.', {
    hint: 'Try again later; the operator finds the cause in the log.',
    cause,
  })
}

/** Whether `error` is of SQLite, for another process that holds the database. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}

/** Whether `error` is for lack of room. */
export function isFull(error: unknown): boolean {
  return error instanceof AppError && error.code === 'storage_full'
}

/** How a caller is told of an error of SQLite, of the file system, or of damage. Anything else stays what it is. */
export function toStorageError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // The index of the log grows by 32 KiB at a time.
  if (/^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE)/.test(code)) return storageFull(error)
  if (/^(SQLITE_(BUSY|LOCKED|IOERR|READONLY|CORRUPT|CANTOPEN|NOTADB)|E[A-Z]+$)/.test(code)) {
    return storageUnavailable(error)
  }
  if (error instanceof SyntaxError) return storageUnavailable(error) // Options are stored as JSON: these are damaged.
  return error
}
