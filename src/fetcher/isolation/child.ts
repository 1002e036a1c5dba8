import workerpool from 'workerpool'

import type { Program } from '../../jobs/check-programs.ts'
import { convert } from '../convert/convert.ts'
import { failure } from '../convert/failure.ts'
import { checkProgram } from '../filter/check-program.ts'
import { filter } from '../filter/filter.ts'
import { SpentError } from '../filter/spent-error.ts'
import type { Answer, FilterInput, TaskName, Tasks } from './tasks.ts'
import { startWatch } from './watch.ts'

/**
 * Entry of a child process. It gets tasks and sends their outputs, one at a time.
 * @param argv the resident bytes that it may use.
 */
const watch = startWatch(Number(process.argv[2]))

type Handlers = { readonly [Name in TaskName]: (input: Tasks[Name]['input']) => Promise<Answer<Tasks[Name]['output']>> }

const handlers: Handlers = {
  convert: (source) =>
    answer(
      () => convert(source, (page, meta) => workerpool.workerEmit({ page, meta })),
      () => failure('bad_document', 'The document is nested too deeply, or too large, to be converted.'),
    ),
  filter: ({ converted, options }: FilterInput) =>
    answer(
      () => filter(converted, options),
      () => failure('filter_failed', 'The filter needs more memory or depth than it may use.'),
    ),
  check: (program: Program) =>
    answer(
      () => checkProgram(program),
      () => 'it is nested too deeply',
    ),
}

workerpool.worker({ ...handlers, ping: () => true })

/** @param overflown what a stack that overflows, or a string that outgrows what there can be, comes to: it is the input's doing. */
async function answer<Output>(task: () => Promise<Output>, overflown: () => Output): Promise<Answer<Output>> {
  watch.busy()
  try {
    return { output: await task(), rssBytes: process.memoryUsage.rss(), spent: false }
  } catch (error) {
    const rssBytes = process.memoryUsage.rss()
    if (error instanceof RangeError || error instanceof SpentError)
      return { output: overflown(), rssBytes, spent: true }
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error), rssBytes }
  } finally {
    watch.idle()
  }
}
