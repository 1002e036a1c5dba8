import { validationFailed } from '../errors.ts'
import type { Submission } from '../jobs/schema.ts'

/**
 * The submission that a `text/uri-list` body (RFC 2483 §5) asks for: a URL a line, lines that start with `#` are comments.
 * @throws {AppError} `validation_failed` if it is not UTF-8: a URL that cannot be read must not become another one.
 */
export function parseUriList(body: Buffer): Submission {
  const lines = decode(body).split(/\r\n|\n|\r/)
  const urls = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return { targets: urls.map((url) => ({ url })) }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw validationFailed([{ pointer: '', detail: 'The list is not UTF-8 text.' }])
  }
}
