import type { Program } from '../../jobs/check-programs.ts'
import type { Conversion, Converted, DocumentMeta, Page, SourceDocument } from '../convert/document.ts'
import type { Filtered, FilterOptions } from '../filter/filter.ts'

/** What children do. It crosses a process boundary, so all of it is plain data. */
export interface Tasks {
  /** Turns a document into content; tells the pages of a paged one as they are finished. */
  readonly convert: {
    readonly input: SourceDocument
    readonly part: { readonly page: Page; readonly meta: DocumentMeta }
    readonly output: Conversion
  }
  /** Applies `jq`, `grep` and `question` to content. */
  readonly filter: { readonly input: FilterInput; readonly part: never; readonly output: Filtered }
  /** Compiles what a caller writes in `jq` or `grep`; gives what is wrong with it. */
  readonly check: { readonly input: Program; readonly part: never; readonly output: string | undefined }
}

export type TaskName = keyof Tasks

export interface FilterInput {
  readonly converted: Pick<Converted, 'content' | 'isMarkdown'>
  readonly options: FilterOptions
}

/** What a child sends back. */
export type Answer<Output> =
  /** `spent` tells that the child must not be used again. */
  | { readonly output: Output; readonly rssBytes: number; readonly spent: boolean }
  /** The task threw: a bug, for the log. */
  | { readonly fault: string; readonly rssBytes: number }
