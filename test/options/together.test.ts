import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { serveArchive } from '../helpers/fake-archive.ts'
import { serve } from '../helpers/serve.ts'
import { wholeService } from '../helpers/whole-service.ts'

const PDF = readFileSync(new URL('../fixtures/pdfs/twocol-latex.pdf', import.meta.url))
const LINKS = Array.from({ length: 9 }, (_, n) => `<p>Read of <a href="/${n}">lamp number ${n}</a> here.</p>`).join('')
const PAGE = `<!doctype html><html lang="en"><head><title>Lamps</title></head><body><main><h1>Lamps</h1>${LINKS}</main></body></html>`

it('a PDF takes pages, grep and context together', async () => {
  await using pages = await serve({ '/paper': { type: 'application/pdf', body: PDF } })
  await using service = await wholeService()
  const whole = (await service.outcome(`${pages.origin}/paper`)).result
  const total = whole?.meta.pages_total ?? 0
  expect(total).toBeGreaterThan(1)
  const word = /[a-z]{8,}/.exec((whole?.content ?? '').split('<!-- page 2 -->')[1] ?? '')?.[0] ?? ''
  const { result } = await service.outcome(`${pages.origin}/paper`, { pages: '2-', grep: word, context: true })
  expect(result?.content).toMatch(/^<!-- page 2 -->\n/)
  expect(result?.content).toContain(word)
  expect(result?.meta).toMatchObject({ pages_total: total, pages_done: total - 1, matches: expect.any(Number) })
  expect(result?.meta.matches).toBeGreaterThan(0)
})

it('JSON takes jq and grep together', async () => {
  await using pages = await serve({
    '/': { type: 'application/json', body: '[{"n":"red"},{"n":"green"},{"n":"grey"}]' },
  })
  await using service = await wholeService()
  const { result } = await service.outcome(`${pages.origin}/`, { jq: '.[].n', grep: '^"gre' })
  expect(result).toMatchObject({ content: '"green"\n"grey"', meta: { matches: 2 } })
})

it('one target takes all seven options', async () => {
  await using site = await serve({})
  const origin = `http://gone.org:${site.port}`
  await using archive = await serveArchive([{ at: '20210101000000', url: `${origin}/page`, body: PAGE }])
  await using service = await wholeService({
    zone: { 'gone.org': ['127.0.0.2'] },
    archiveUrl: archive.origin,
    isPublic: () => Promise.resolve(true),
  })
  const { result } = await service.outcome(`${origin}/page`, {
    mode: 'links',
    pages: '1',
    jq: '.[].text',
    grep: 'number [3-5]',
    question: 'Which lamp is number 4?',
    context: true,
    recover: true,
  })
  expect(result?.meta).toMatchObject({
    matches: 3,
    recovered: { reason: 'http_404', captured_at: '2021-01-01T00:00:00.000Z' },
    answer: { method: 'bm25', passages: [{ heading: [] }] },
    warnings: [expect.stringContaining('no pages')],
  })
  expect(result?.content).toContain('"lamp number 4"')
  for (const { quote, start, end } of result?.meta.answer?.passages ?? []) {
    expect(result?.content.slice(start, end)).toBe(quote)
  }
})
