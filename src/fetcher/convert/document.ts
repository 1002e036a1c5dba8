import type { Mode, TargetMeta } from '../../jobs/schema.ts'
import type { TargetErrorCode } from '../../jobs/target-error.ts'

/** What a conversion starts from. It crosses a process boundary, so it holds plain data only. */
export interface SourceDocument {
  readonly body: Uint8Array
  /** Where the document was found, after redirects: the base of its relative links. */
  readonly url: string
  /** The `Content-Type` header as it was sent; undefined if there was none. */
  readonly contentType: string | undefined
  readonly mode: Mode
}

/** The members of `meta` that a document itself tells. */
export type DocumentMeta = Pick<
  TargetMeta,
  | 'content_type'
  | 'charset'
  | 'title'
  | 'description'
  | 'byline'
  | 'published'
  | 'language'
  | 'site_name'
  | 'canonical_url'
>

/** What a conversion gives, or why it gives nothing. Plain data, as `SourceDocument`. */
export type Conversion =
  | { readonly content: string; readonly meta: DocumentMeta; readonly warnings: readonly string[] }
  | { readonly failure: { readonly code: TargetErrorCode; readonly message: string } }
