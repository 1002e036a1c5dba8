import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { comparable, DOCUMENTS, examplesOf, run } from '../helpers/console-blocks.ts'
import { serveDocs } from '../helpers/docs-service.ts'
import { hasProgram } from '../helpers/has-program.ts'

/** `curl` with an option or an address after it, as a command has and a sentence has not. */
const CURL_COMMAND = /\bcurl(?:\.exe)?\s+(?=["'$\\-]|(?:https?:|\S*[\w\]][.:/]\w))/
const read = (document: string) => readFileSync(document, 'utf8')
const WITH_EXAMPLES = DOCUMENTS.filter((document) => examplesOf(read(document)).length > 0)

/** They speak curl, which a machine may lack. */
it.each(hasProgram('curl') ? WITH_EXAMPLES : [])(
  'every command in %s prints what the document says',
  async (document) => {
    const examples = examplesOf(read(document))
    await using docs = await serveDocs()
    const outputs = await run(examples, docs.replaced, process.env)
    expect(comparable(outputs)).toEqual(comparable(examples.map(({ output }) => output)))
  },
  120_000,
)

it('no document has a curl command that the test above does not run', () => {
  const curlLines = (text: string) => text.split('\n').filter((line) => CURL_COMMAND.test(line))
  const written = DOCUMENTS.flatMap((document) => curlLines(read(document)))
  const commands = DOCUMENTS.flatMap((document) =>
    examplesOf(read(document)).flatMap(({ command }) => curlLines(command)),
  )
  expect(commands).not.toEqual([])
  expect(written.map((line) => line.replace(/^\$ /, ''))).toEqual(commands)
})
