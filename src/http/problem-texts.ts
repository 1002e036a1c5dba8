import type { ErrorCode } from '../errors.ts'
import type { TARGET_ERRORS } from '../jobs/target-error.ts'

/** What a kind of problem means and what to do about it, in one sentence each. */
export interface ProblemText {
  readonly meaning: string
  readonly remedy: string
}

/** For every problem code. A code without an entry does not compile. */
export const PROBLEM_TEXTS: Readonly<Record<ErrorCode, ProblemText>> = {
  invalid_json: {
    meaning: 'The body does not parse as JSON in UTF-8, or it is empty.',
    remedy: 'Send one JSON object; `detail` says where parsing stopped.',
  },
  unauthorized: {
    meaning: 'The service wants an API key, and the request has none that is valid.',
    remedy: 'Send the header `Authorization: Bearer` with your key; ask whoever runs the service for one.',
  },
  cross_origin: {
    meaning: 'A browser sent the request for a web page of another origin, which may change nothing here.',
    remedy: 'Send it from a program, or from a page of the same origin.',
  },
  misdirected_request: {
    meaning:
      'The `Host` header has a name that the service does not go by; this keeps out web pages that rebind theirs.',
    remedy: 'Use the address of the service or `localhost`, or have its operator allow the name.',
  },
  not_found: {
    meaning: 'There is nothing at this URL.',
    remedy: 'Compare the path with those in `/openapi.json`.',
  },
  method_not_allowed: {
    meaning: 'The path exists, and has no such method.',
    remedy: 'Use a method that the `Allow` header lists.',
  },
  job_not_found: {
    meaning: 'There is no such job, or it belongs to another caller, or it has expired.',
    remedy: 'Check the id and that you ask as the caller who submitted it; submit the targets again if it has expired.',
  },
  target_not_found: {
    meaning: 'The job has fewer targets than that.',
    remedy: 'Count from 0; `targets_total` of the job says how many there are.',
  },
  not_acceptable: {
    meaning: 'The `Accept` header names no type that the resource can be had as.',
    remedy: 'Ask for a type that the operation lists, or send no `Accept`.',
  },
  job_finished: {
    meaning: 'The job has ended, so that there is nothing left to cancel.',
    remedy: 'Read its results; they are kept until `expires_at`.',
  },
  job_not_finished: {
    meaning: 'The job is still live, so that it cannot be retried yet.',
    remedy: 'Wait for its end, or cancel it first.',
  },
  nothing_to_retry: {
    meaning: 'Every target of the job is done.',
    remedy: 'To fetch them anew, submit them with `"reuse": false`.',
  },
  no_content: {
    meaning: 'The target is pending or has failed, so that it has no bare content.',
    remedy: 'Ask for JSON, which says why; or wait until the target is done.',
  },
  body_too_large: {
    meaning: 'The body is larger than the operation takes; a submission can have 512 KiB.',
    remedy: 'Split the list into several jobs.',
  },
  unsupported_media_type: {
    meaning: 'The body is of a type that is not read here, or the request has no `Content-Type`.',
    remedy: 'Send `application/json`, or `text/uri-list` with one URL a line.',
  },
  validation_failed: {
    meaning: 'The request is well-formed and breaks a rule; nothing of it was done.',
    remedy: 'Correct what `errors` lists, each with a JSON Pointer to its place, and send it again.',
  },
  too_many_targets: {
    meaning: 'The job has more targets than `limit`.',
    remedy: 'Split the list into several jobs.',
  },
  caller_busy: {
    meaning: 'You have as many live jobs as one caller may have; `jobs` names them.',
    remedy: 'Wait for one to end, about as long as `Retry-After` says, or cancel it.',
  },
  jobs_busy: {
    meaning: 'The service has as many live jobs as it takes from all callers together.',
    remedy: 'Try again after the seconds in `Retry-After`.',
  },
  internal_error: {
    meaning: 'The service has a fault.',
    remedy: 'Try again; if it stays, tell the operator, whose log has the cause.',
  },
  programs_unchecked: {
    meaning:
      'So many programs for `jq` and `grep`, of this caller or of all, wait to be compiled that these could not be checked in time.',
    remedy: 'Send the submission again in a moment.',
  },
  too_many_followers: {
    meaning: 'As many requests follow jobs as one caller, or the service in all, may have; `cap` says which.',
    remedy: 'Poll the job, or come back later with `from` or `Last-Event-ID`, which misses nothing.',
  },
  shutting_down: {
    meaning: 'The service stops and takes no more jobs.',
    remedy: 'Try again in a moment; what is stored stays readable.',
  },
  storage_full: {
    meaning: 'The service has no room for more results.',
    remedy: 'Try again later: jobs that expire make room.',
  },
  storage_unavailable: {
    meaning: 'The service cannot use its database.',
    remedy: 'Try again later; the operator finds the cause in the log.',
  },
}

/** What each error code of a target means. What to do is its hint. `docs/errors.md` says the same. */
export const TARGET_MEANINGS: Readonly<Record<keyof typeof TARGET_ERRORS, string>> = {
  blocked_address: 'The host is, or resolves to, an address that is not public, at the start or after a redirect.',
  blocked_port: 'The port of the URL is not on the list.',
  invalid_url: 'The URL cannot be fetched as it is written.',
  dns_not_found: 'The name does not exist or has no address.',
  dns_failure: 'The name server failed or did not answer.',
  connect_refused: 'The server refused the connection.',
  connect_timeout: 'No connection within 10 s, be it for the egress proxy of the service.',
  unreachable: 'The network has no route to the address, or the egress proxy of the service fails.',
  tls_expired: 'The certificate is out of date, or not valid yet.',
  tls_wrong_host: 'The certificate names other hosts.',
  tls_untrusted: 'The certificate is self-signed or of an unknown authority.',
  tls_failed: 'The handshake failed.',
  timeout:
    'The target, or the conversion of its document, took longer than its limit, or other requests to its host left it no time. Pages of a PDF that were finished by then are kept: the target is done, with `meta.truncated`.',
  connection_closed: 'The connection ended in the middle of the answer.',
  bad_response: 'The answer breaks the rules of HTTP, or the names and values of its header are larger than 32 KiB.',
  bad_encoding: 'The content coding is damaged, cut off or unknown.',
  bad_redirect: 'A redirect without a usable `Location`.',
  redirect_loop: 'A redirect to where the request was before, with the same cookies.',
  too_many_redirects: 'More than 10 redirects.',
  too_large: 'More bytes than `PAGEHAUL_FETCH_BYTES_MAX`, announced or counted after decoding.',
  empty: 'No body, or a page without any text.',
  soft_404: 'The page came with success and says that it does not exist.',
  needs_javascript: 'An app shell: the page has hardly any text until its scripts have run.',
  blocked_by_site: 'A bot check, a challenge or a login came instead of the page.',
  unsupported_type:
    'A document that cannot be turned into text, or not in the mode asked for, such as `raw` for a PDF.',
  no_article: '`mode: article` on what has no main content.',
  bad_document: 'The document is damaged or cut off, or could not be converted within the limits of memory and size.',
  not_json: '`jq` on what is not JSON.',
  password_protected: 'A PDF or office document that needs a password to open.',
  no_text_layer: 'A PDF of pictures, such as a scan.',
  filter_failed: '`jq` ended in an error, of which the message tells, or a filter needed more memory than it may use.',
  filter_timeout: '`jq`, `grep` and `question` took longer than 10 s.',
  robots_denied:
    'With `PAGEHAUL_ROBOTS=obey`: the robots.txt of a site disallows the URL, or one that it redirects to, or could not be had.',
  not_in_archive: '`recover` found no good copy; the message says how the page itself failed.',
  no_room: 'The content was fetched, and the store had no room for it for 5 minutes.',
  internal: 'A fault of the service.',
}
