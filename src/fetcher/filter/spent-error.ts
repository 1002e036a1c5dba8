/** A library has failed in a way after which its process must not be used again. */
export class SpentError extends Error {
  override readonly name = 'SpentError'
}
