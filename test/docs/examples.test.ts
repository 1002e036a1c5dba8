import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { comparable, examplesOf, run } from '../helpers/console-blocks.ts'
import { serveDocs } from '../helpers/docs-service.ts'
import { hasProgram } from '../helpers/has-program.ts'

/** They speak curl, which a machine may lack. */
const DOCUMENTS = hasProgram('curl') ? ['README.md', 'docs/guide.md'] : []

it.each(DOCUMENTS)(
  'every command in %s prints what the document says',
  async (document) => {
    const examples = examplesOf(readFileSync(document, 'utf8'))
    expect(examples.length).toBeGreaterThan(0)
    await using docs = await serveDocs()
    const outputs = await run(examples, docs.replaced, process.env)
    expect(comparable(outputs)).toEqual(comparable(examples.map(({ output }) => output)))
  },
  120_000,
)
