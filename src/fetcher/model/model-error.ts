/**
 * The model gave no answer that can be used. `message` is one sentence for the caller: without the key, and without a
 * word of what the endpoint sent.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError'
}
