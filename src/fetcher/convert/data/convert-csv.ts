import type { Mode } from '../../../jobs/schema.ts'
import type { Conversion, DocumentMeta } from '../document.ts'
import { failure } from '../failure.ts'
import { delimiterOf, readCsv } from './csv.ts'
import { TABLE_LENGTH_MAX, TableWriter } from './table-writer.ts'

/** Converts comma-separated or tab-separated values: to a Markdown or HTML table, or as they are in `text` and `raw`. */
export function convertCsv(text: string, mode: Mode, meta: DocumentMeta): Conversion {
  if (mode === 'raw' || mode === 'text') return { content: text, meta, warnings: [] }
  const table = new TableWriter(mode === 'html' ? 'html' : 'markdown')
  let isComplete = true
  readCsv(text, delimiterOf(text), (cells) => (isComplete = table.row(cells)))
  const content = table.finish()
  if (content === '') return failure('empty', 'The table has no rows.')
  if (isComplete) return { content, meta, warnings: [] }
  return { content, meta: { ...meta, truncated: true }, warnings: [cutWarning()] }
}

/** What to say of a table that was cut. */
export const cutWarning = () =>
  `The tables take more than ${TABLE_LENGTH_MAX} characters; the rest of the rows was left out.`
