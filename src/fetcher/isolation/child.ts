import workerpool from 'workerpool'

import { convert } from '../convert/convert.ts'
import type { SourceDocument } from '../convert/document.ts'
import { failure } from '../convert/failure.ts'
import type { Answer } from './answer.ts'
import { startWatch } from './watch.ts'

/**
 * Entry of a child process. It gets documents and sends conversions, one at a time.
 * @param argv the resident bytes that it may use.
 */
const watch = startWatch(Number(process.argv[2]))

workerpool.worker({
  async convert(source: SourceDocument): Promise<Answer> {
    watch.busy()
    try {
      return { conversion: await convert(source), rssBytes: process.memoryUsage.rss() }
    } catch (error) {
      return { ...caught(error), rssBytes: process.memoryUsage.rss() }
    } finally {
      watch.idle()
    }
  },
  /** Answers once the child is up. */
  ping: () => true,
})

/** A stack that overflows, or a string that outgrows what there can be, is the document's doing. */
function caught(error: unknown) {
  if (error instanceof RangeError) {
    return { conversion: failure('bad_document', 'The document is nested too deeply, or too large, to be converted.') }
  }
  return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
