import { afterAll, describe, expect, it } from 'vitest'

import { createConverter } from '../../../src/fetcher/isolation/converter.ts'
import { HOSTILE_PAGES } from '../../helpers/hostile-pages.ts'

/** The time is that of a busy machine; a quiet one needs less than 8 s for the worst of them. */
const converter = createConverter({ timeMsMax: 60_000 })
afterAll(() => converter.close())

const convert = (body: string) =>
  converter.convert(
    { body: Buffer.from(body), url: 'https://x.example/', contentType: 'text/html', mode: 'auto' },
    new AbortController().signal,
  )

/** Those of which only the first part is read. */
const CUT = new Set(['ten megabytes of paragraphs', '200,000 blocks'])
/** Those that hold no text that could be had. */
const WITHOUT_TEXT = new Map([
  ['100,000 levels', 'bad_document'],
  ['comments that never end', 'empty'],
])
/** What must be in the content of those without prose. */
const TEXTS = new Map([
  ['ten megabytes of paragraphs', 'Paragraph number 1 of a long page'],
  ['5,000 open formats', 'texttext'],
  ['200,000 blocks', 'a'],
  ['15,000 links', '[link text](https://x.example/x)'],
  ['10,000 rows', '| a | b | c |'],
  ['2,000 tables in tables', 'x'],
  ['nothing closed', 'text, more text, and more.'],
  ['a megabyte of entities', '&<\u{1F600}¬anentity;'],
])
/** What runs across a link and an emphasis, so that no order but the right one has it. */
const LAST_OF_PROSE =
  'Paragraph number 19 of a long page, with [a link](https://x.example/l19), some **bold** words and enough text'

describe('hostile pages end within the limits, and the next page is converted:', { timeout: 120_000 }, () => {
  it.concurrent.each(Object.entries(HOSTILE_PAGES))('%s', async (name, build) => {
    const hostile = await convert(build())
    expect('failure' in hostile ? hostile.failure.code : undefined).toBe(WITHOUT_TEXT.get(name))
    if ('content' in hostile) expect(hostile.content).toContain(TEXTS.get(name) ?? LAST_OF_PROSE)
    if (CUT.has(name)) expect(hostile).toMatchObject({ warnings: [expect.stringContaining('the rest was left out')] })
    expect(await convert('<p>next</p>')).toMatchObject({ content: 'next' })
  })
})
