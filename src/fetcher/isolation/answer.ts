import type { Conversion } from '../convert/document.ts'

/** What a child sends back. Plain data, since it crosses a process boundary. */
export type Answer =
  | { readonly conversion: Conversion; readonly rssBytes: number }
  /** The conversion threw: a bug, for the log. */
  | { readonly fault: string; readonly rssBytes: number }
