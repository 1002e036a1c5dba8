import { describe, expect, it } from 'vitest'

import { systemClock } from '../../src/clock.ts'
import { createModel } from '../../src/fetcher/model/model.ts'
import { breaking, type ModelAct, serveModel, writing } from '../helpers/fake-model.ts'
import { serve } from '../helpers/serve.ts'
import { testNetwork } from '../helpers/test-network.ts'
import { wholeService } from '../helpers/whole-service.ts'

const PROSE = 'The harbour town is known for its market, where fish and bread are sold from early in the morning. '
const PAGE = `<!doctype html><html lang="en"><head><title>Skerry Rock</title></head><body><main>
  <h1>Skerry Rock</h1><p>${PROSE.repeat(4)}</p>
  <h2>History</h2><p>The lamp was lit for the first time in 1843 by Ann Mackay, who kept it for thirty years.</p>
  <p>${PROSE.repeat(4)}</p><h2>Visiting</h2><p>Boats leave the pier at nine. ${PROSE.repeat(4)}</p></main></body></html>`
const ROUTES = { '/': { type: 'text/html', body: PAGE } }
const question = 'When was the lamp lit for the first time?'

/** A service whose model acts as told. */
async function withModel(...acts: ModelAct[]) {
  const server = await serveModel(acts)
  const network = testNetwork()
  const model = createModel({
    post: network.post,
    clock: systemClock,
    baseUrl: server.baseUrl,
    model: 'small-model',
    timeoutMs: 10_000,
  })
  const service = await wholeService({ model })
  return {
    ...service,
    server,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await network.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe('a question without a model', () => {
  it('is answered by exact quotes with their places', async () => {
    await using pages = await serve(ROUTES)
    await using service = await wholeService()
    const { content = '', meta } = (await service.outcome(`${pages.origin}/`, { question })).result ?? {}
    const whole = (await service.outcome(`${pages.origin}/`)).result?.content ?? ''
    expect(content).toMatch(/^\[1\] Skerry Rock › History\n\nThe lamp was lit for the first time in 1843/)
    expect(meta?.answer).toMatchObject({ method: 'bm25' })
    expect(meta?.answer?.passages[0]).toMatchObject({ heading: ['Skerry Rock', 'History'], score: expect.any(Number) })
    for (const { quote, offset, start, end } of meta?.answer?.passages ?? []) {
      expect(content.slice(start, end)).toBe(quote)
      expect(whole.slice(offset, offset + quote.length)).toBe(quote)
    }
  })

  it('comes with the text around them with context', async () => {
    await using pages = await serve(ROUTES)
    await using service = await wholeService()
    const { content = '', meta } = (await service.outcome(`${pages.origin}/`, { question, context: true })).result ?? {}
    expect(content).toContain('## History')
    for (const { quote, start, end } of meta?.answer?.passages ?? []) expect(content.slice(start, end)).toBe(quote)
  })

  it('that the page says nothing of is a result that says so', async () => {
    await using pages = await serve(ROUTES)
    await using service = await wholeService()
    expect((await service.outcome(`${pages.origin}/`, { question: 'Zebra?' })).result).toMatchObject({
      content: '',
      meta: { answer: { method: 'bm25', passages: [] }, warnings: [expect.stringContaining('No passage')] },
    })
  })
})

describe('a question with a model', () => {
  it('is answered by it, with the passages that it cites', async () => {
    await using pages = await serve(ROUTES)
    await using service = await withModel(writing('It was lit in 1843 [1].'))
    const { result } = await service.outcome(`${pages.origin}/`, { question })
    expect(result).toMatchObject({
      content: 'It was lit in 1843 [1].',
      meta: { answer: { method: 'model', model: 'small-model', passages: [{ heading: ['Skerry Rock', 'History'] }] } },
    })
    expect(result?.meta.answer?.passages[0]?.quote).toContain('in 1843 by Ann Mackay')
    expect(result?.meta.warnings).toBeUndefined()
  })

  it('shows the passages, too, with context', async () => {
    await using pages = await serve(ROUTES)
    await using service = await withModel(writing('It was lit in 1843 [1].'))
    const { content = '', meta } = (await service.outcome(`${pages.origin}/`, { question, context: true })).result ?? {}
    expect(content).toMatch(/^It was lit in 1843 \[1\]\.\n\n\[1\] Skerry Rock › History\n\n/)
    for (const { quote, start, end } of meta?.answer?.passages ?? []) expect(content.slice(start, end)).toBe(quote)
  })

  it('is answered by quotes, with a warning, when it fails', async () => {
    await using pages = await serve(ROUTES)
    await using service = await withModel(writing('It was lit in 1843.'), breaking, breaking, breaking)
    for (const model of ['without a citation', 'broken']) {
      const { result } = await service.outcome(`${pages.origin}/`, { question })
      expect(result, model).toMatchObject({
        content: expect.stringMatching(/^\[1\] Skerry Rock › History\n\nThe lamp was lit/),
        meta: { answer: { method: 'bm25' }, warnings: [expect.stringContaining('The model gave no answer')] },
      })
    }
  })
})

it('a question to a text that is no Markdown takes no line for a heading', async () => {
  const robots = '# Crawlers must wait ten seconds\nUser-agent: *\nCrawl-delay: 10\n'
  await using pages = await serve({ '/robots.txt': { type: 'text/plain', body: robots } })
  await using service = await wholeService()
  const { result } = await service.outcome(`${pages.origin}/robots.txt`, { question: 'How long must crawlers wait?' })
  expect(result?.meta.answer?.passages[0]).toMatchObject({ quote: expect.stringContaining('ten seconds'), heading: [] })
})

it('an answer that is cut at the size limit has no places beyond its end', async () => {
  await using pages = await serve(ROUTES)
  await using service = await wholeService({ contentBytesMax: 60 })
  const { result } = await service.outcome(`${pages.origin}/`, { question: 'lamp harbour boats fish' })
  expect(result?.meta).toMatchObject({ truncated: true })
  for (const { end } of result?.meta.answer?.passages ?? []) expect(end ?? 0).toBeLessThanOrEqual(60)
})
