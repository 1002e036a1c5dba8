import { type Conversion, type DocumentMeta, type Page, type SourceDocument } from '../convert/document.ts'
import { failure } from '../convert/failure.ts'
import { joinPages } from '../convert/paged.ts'
import type { Filtered } from '../filter/filter.ts'
import { type ChildPoolOptions, createChildPool } from './child-pool.ts'
import type { Lost } from './run-in.ts'
import type { FilterInput, TaskName } from './tasks.ts'

const CONVERT_MS_MAX = 20_000
const FILTER_MS_MAX = 10_000

export interface ConverterOptions extends ChildPoolOptions {
  /** Milliseconds of one conversion, from when its child is up. Default 20,000. */
  readonly timeMsMax?: number
  /** The same for the filters of one target. Default 10,000. */
  readonly filterMsMax?: number
  /** Told of each task that has ended, with the milliseconds it took, the wait for a child included. */
  readonly onEnd?: (task: TaskName, durationMs: number, end: 'done' | Lost) => void
}

/** Converts documents, and filters what they gave, in child processes. */
export interface Converter {
  /**
   * A conversion that takes too long is a failure `timeout`; one that takes too much memory, or crashes, `bad_document`.
   * A paged document that had finished pages by then gives these, flagged as truncated.
   * Rejects with the signal's reason when it aborts; otherwise only for a bug, or after `close`.
   * @param timeMsMax less than the limit of the converter, where a target has less time left.
   */
  convert(source: SourceDocument, signal: AbortSignal, timeMsMax?: number): Promise<Conversion>
  /** As `convert`; the failures are `filter_timeout` and `filter_failed`. */
  filter(input: FilterInput, signal: AbortSignal, timeMsMax?: number): Promise<Filtered>
  /** Ends every child; what runs or waits is rejected. Resolves once the processes are gone. */
  close(): Promise<void>
}

/** Starts no child before the first document; from then on one is kept ready. */
export function createConverter({
  timeMsMax: convertMsMax = CONVERT_MS_MAX,
  filterMsMax = FILTER_MS_MAX,
  onEnd = () => {},
  ...options
}: ConverterOptions = {}): Converter {
  const pool = createChildPool(options)
  const run: typeof pool.run = async (task, ...work) => {
    const startedAt = performance.now()
    const ended = await pool.run(task, ...work)
    onEnd(task, performance.now() - startedAt, 'lost' in ended ? ended.lost : 'done')
    return ended
  }
  return {
    async convert(source, signal, timeMsMax = convertMsMax) {
      const ms = Math.min(timeMsMax, convertMsMax)
      const pages: Page[] = []
      let meta: DocumentMeta = {}
      const onPart = (part: { page: Page; meta: DocumentMeta }) => {
        pages.push(part.page)
        ;({ meta } = part)
      }
      const ended = await run('convert', source, { timeMsMax: ms, signal, onPart })
      if ('output' in ended) return ended.output
      const message =
        ended.lost === 'late'
          ? `Converting the document took longer than ${seconds(ms)}.`
          : 'Converting the document took too much memory, or broke off.'
      if (pages.length === 0) return failure(ended.lost === 'late' ? 'timeout' : 'bad_document', message)
      return finishedPages(pages, meta, message, source.mode !== 'text')
    },
    async filter(input, signal, timeMsMax = filterMsMax) {
      const ms = Math.min(timeMsMax, filterMsMax)
      const ended = await run('filter', input, { timeMsMax: ms, signal })
      if ('output' in ended) return ended.output
      return ended.lost === 'late'
        ? failure('filter_timeout', `Filtering the content took longer than ${seconds(ms)}.`)
        : failure('filter_failed', 'Filtering the content took too much memory, or broke off.')
    },
    close: pool.close,
  }
}

function finishedPages(pages: readonly Page[], meta: DocumentMeta, message: string, isMarkdown: boolean): Conversion {
  const last = pages.at(-1)?.number ?? 0
  return {
    content: joinPages(pages),
    ...(isMarkdown ? { isMarkdown } : {}),
    meta: { ...meta, pages_done: pages.length, truncated: true },
    warnings: [`${message} The content ends with page ${last}.`],
  }
}

const seconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1_000))} s`
