import type { SourceDocument } from '../convert/document.ts'
import { failure } from '../convert/failure.ts'
import type { Answer } from './answer.ts'
import type { ConversionChild } from './child-process.ts'
import { within } from './within.ts'

/** A conversion that has ended. `lost` tells that its child is dead, or must be ended. */
export type Ended = Answer & { readonly lost: boolean }

/** Converts in a child that is up, within `timeMsMax` milliseconds. */
export function convertIn(child: ConversionChild, source: SourceDocument, timeMsMax: number): Promise<Ended> {
  const answer = child.convert(source).then(
    (value): Ended => ({ ...value, lost: false }),
    // A child sends what it throws; a rejection tells that it is dead.
    (): Ended => lost('bad_document', 'Converting the document took too much memory, or broke off.'),
  )
  return within(timeMsMax, answer, () => {
    const seconds = Math.max(1, Math.round(timeMsMax / 1_000))
    return lost('timeout', `Converting the document took longer than ${seconds} s.`)
  })
}

const lost = (code: 'bad_document' | 'timeout', message: string): Ended => ({
  conversion: failure(code, message),
  rssBytes: 0,
  lost: true,
})
