// Runs the commands in the documents, or in those that are named, and writes down what they print now. A test compares
// the two.
import { readFileSync, writeFileSync } from 'node:fs'

import { DOCUMENTS, examplesOf, run, withOutputs } from '../test/helpers/console-blocks.ts'
import { serveDocs } from '../test/helpers/docs-service.ts'

const named = process.argv.slice(2)
for (const document of named.length > 0 ? named : DOCUMENTS) {
  const markdown = readFileSync(document, 'utf8')
  const examples = examplesOf(markdown)
  if (examples.length === 0) continue
  await using docs = await serveDocs()
  writeFileSync(document, withOutputs(markdown, await run(examples, docs.replaced, process.env)))
}
