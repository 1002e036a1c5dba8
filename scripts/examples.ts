// Runs the commands in the documents and writes down what they print now. A test compares the two.
import { readFileSync, writeFileSync } from 'node:fs'

import { examplesOf, run, withOutputs } from '../test/helpers/console-blocks.ts'
import { serveDocs } from '../test/helpers/docs-service.ts'

for (const document of process.argv.slice(2)) {
  await using docs = await serveDocs()
  const markdown = readFileSync(document, 'utf8')
  writeFileSync(document, withOutputs(markdown, await run(examplesOf(markdown), docs.replaced, process.env)))
}
