import type { TargetFailure } from './schema.ts'

interface Row {
  /** What the caller can do next, in one sentence. A `TargetError` may carry a closer one. */
  readonly hint: string
  /** Whether it may pass, so that the request is made again before the target fails. */
  readonly isRetried?: true
}

/** Why a target failed. Part of the API: add codes, never rename one. `docs/errors.md` has a row for each. */
export const TARGET_ERRORS = {
  blocked_address: {
    hint: 'Only public addresses are fetched; the operator can allow a range with PAGEHAUL_GUARD_ALLOW.',
  },
  blocked_port: { hint: 'Use a standard web port; the operator can allow others with PAGEHAUL_GUARD_PORTS.' },
  invalid_url: { hint: 'Send an absolute http or https URL without credentials.' },
  dns_not_found: { hint: 'Check the spelling of the host name; it has no address.' },
  dns_failure: { hint: 'The name server gave no usable answer; try again later.', isRetried: true },
  connect_refused: { hint: 'Nothing listens on that port; check the URL or try again later.', isRetried: true },
  connect_timeout: { hint: 'The server did not accept a connection in time; try again later.', isRetried: true },
  unreachable: { hint: 'There is no route to the server; try again later.', isRetried: true },
  tls_expired: {
    hint: 'Its owner must renew the certificate; until then, `recover: true` gives a copy from a web archive.',
  },
  tls_wrong_host: { hint: 'The certificate is for another host name; check the spelling of the host.' },
  tls_untrusted: {
    hint: 'The operator can add an authority with NODE_EXTRA_CA_CERTS; else, send `recover: true` for an archived copy.',
  },
  tls_failed: { hint: 'The secure connection could not be set up; check that the port speaks HTTPS.' },
  timeout: { hint: 'The target took too long; try it again later, or alone.' },
  connection_closed: {
    hint: 'The server closed the connection before the answer was complete; try again later.',
    isRetried: true,
  },
  bad_response: { hint: 'Check that the port speaks HTTP, or send `recover: true` for a copy from a web archive.' },
  bad_encoding: { hint: 'The compressed body of the answer is damaged or of an unknown kind; try again later.' },
  bad_redirect: { hint: 'Send the URL that a browser ends at, or `recover: true` for a copy from a web archive.' },
  redirect_loop: { hint: 'Sites redirect in a circle when they want a login or cookies; send a URL that needs none.' },
  too_many_redirects: { hint: 'Send the URL at the end of the redirects.' },
  too_large: { hint: 'The answer is larger than PAGEHAUL_FETCH_BYTES_MAX; ask for a smaller document.' },
  empty: { hint: 'There is no text; check the URL, or look at the source with `mode: raw`.' },
  soft_404: { hint: 'The page is gone; check the URL, or send `recover: true` for a copy from a web archive.' },
  needs_javascript: { hint: 'The page is filled by scripts, which are not run; look for an API or feed of the site.' },
  blocked_by_site: { hint: 'The site keeps programs or strangers out; look for an API or feed of the site.' },
  unsupported_type: {
    hint: 'Send the URL of the same document as HTML, PDF, text or an office file, or another `mode`.',
  },
  no_article: { hint: 'The page has no main text; `mode: full` returns the whole page.' },
  bad_document: {
    hint: 'The document is damaged, or too costly to convert; try another copy of it, or fewer `pages`.',
  },
  not_json: { hint: 'The option `jq` needs JSON: a JSON answer, JSON Lines, or `mode: links` or `metadata`.' },
  password_protected: { hint: 'The document needs a password to open; ask its owner for one that does not.' },
  no_text_layer: { hint: 'The pages are pictures; their text must be recognised by an OCR program first.' },
  filter_failed: { hint: 'A filter failed on this document; make it simpler, or leave it out.' },
  filter_timeout: { hint: 'Filtering took too long; make the expression simpler, or ask for less of the document.' },
  robots_denied: { hint: 'Ask the owner of the site to allow it; the operator has set PAGEHAUL_ROBOTS=obey.' },
  not_in_archive: { hint: 'The page cannot be had and the archive has no good copy of it; check the URL.' },
  no_room: { hint: 'Retry the job later: jobs that expire make room; the operator can make more.' },
  internal: { hint: 'The service failed on this target; its log has the cause.' },
} as const satisfies Record<string, Row>

/** `http_404` and its like carry the status of the server's answer. */
export type TargetErrorCode = keyof typeof TARGET_ERRORS | `http_${number}`

/** Statuses below 500 that ask for the same request again (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4). */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 429])

/** Whether a request that failed so is made again, since the cause may pass. Every 5xx status is. */
export function isRetried(code: TargetErrorCode): boolean {
  if (code in TARGET_ERRORS) return 'isRetried' in TARGET_ERRORS[code as keyof typeof TARGET_ERRORS]
  const status = Number(code.slice('http_'.length))
  return RETRIED_STATUSES.has(status) || (status >= 500 && status <= 599)
}

/** This page could not be had. It becomes the outcome of its target; anything else that is thrown is a bug. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
  readonly code: TargetErrorCode
  readonly hint: string

  /** @param message one sentence for the caller. It never names an address that a host name resolved to. */
  constructor(code: TargetErrorCode, message: string, { hint, cause }: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause })
    this.code = code
    this.hint = hint ?? hintFor(code)
  }

  toFailure(): TargetFailure {
    return { error: this.code, message: this.message, hint: this.hint }
  }
}

function hintFor(code: TargetErrorCode): string {
  if (code in TARGET_ERRORS) return TARGET_ERRORS[code as keyof typeof TARGET_ERRORS].hint
  const status = Number(code.slice('http_'.length))
  if (status === 404 || status === 410) return 'The page is gone; `recover: true` asks a web archive for a copy.'
  if (status === 401 || status === 403)
    return 'The site does not show this page to everyone; it may need a login or refuse programs.'
  if (status === 429) return 'The site asks for fewer requests; try again later.'
  if (status < 400) return 'The server sent no page; send the URL of the page itself, or try again later.'
  if (status < 500) return 'The site refused the request; check the URL.'
  if (status < 600)
    return 'The site has a fault; try again later, or send `recover: true` for a copy from a web archive.'
  return 'The site turns programs away with a status of its own; look for an API or feed of the site.'
}
