import type { PageRange } from '../../jobs/page-ranges.ts'
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
  /** The pages asked for; undefined for all. */
  readonly pages?: readonly PageRange[] | undefined
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
  | 'modified'
  | 'language'
  | 'site_name'
  | 'canonical_url'
  | 'image'
  | 'pages_total'
  | 'pages_done'
  | 'outline'
  | 'truncated'
>

/** What a document gave. */
export interface Converted {
  readonly content: string
  /** Set if the content is JSON: one value, or one a line. */
  readonly json?: 'document' | 'lines' | undefined
  /** Set if the content is Markdown, so that a line that begins with `#` is a heading. */
  readonly isMarkdown?: true | undefined
  readonly meta: DocumentMeta
  readonly warnings: readonly string[]
}

/** What a conversion gives, or why it gives nothing. Plain data, as `SourceDocument`. */
export type Conversion = Converted | Failed

export interface Failed {
  readonly failure: { readonly code: TargetErrorCode; readonly message: string }
}

/** One page of a paged document, as Markdown. */
export interface Page {
  /** From 1. */
  readonly number: number
  readonly text: string
}

/**
 * Takes the pages of a document as they are finished, with what is known of the document by then, so that they are not
 * lost if the rest takes too long or breaks off.
 */
export type KeepPage = (page: Page, meta: DocumentMeta) => void
