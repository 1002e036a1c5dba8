/** The final answer to a request, after redirects, with its body decoded from any content coding. */
export interface FetchedResponse {
  /** After redirects. Carries the fragment of the URL asked for, or that of a redirect that sets one. */
  readonly url: string
  readonly status: number
  /** The `Content-Type` header as it was sent; undefined if there is none. */
  readonly contentType: string | undefined
  /** By name in lower case; the lines of one header are joined with commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Requests made, redirects not counted. */
  readonly attempts: number
}
