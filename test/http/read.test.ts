import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { sliceText } from '../../src/http/text-slice.ts'
import { openRequest } from '../helpers/open-request.ts'
import { buildService } from '../helpers/service.ts'

const alice = { 'x-caller-id': 'alice' }
const CONTENT = '# Titel\n\nGrüße 𠮷👍🏽 <script>alert(1)</script>\n'

const ACCEPTED = [
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['application/*', 'application/json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
  ['application/json;q=0.5, text/plain;q=0.1', 'application/json'],
  ['application/json; charset=utf-8', 'application/json'],
  ['text/markdown', 'text/markdown'],
  ['text/markdown; charset=UTF-8', 'text/markdown'],
  ['TEXT/Markdown', 'text/markdown'],
  ['text/markdown;variant=GFM', 'text/markdown'],
  ['text/markdown; charset=UTF-8; variant=CommonMark, */*;q=0.1', 'text/markdown'],
  ['text/plain;format=flowed;q=0.2, text/markdown;variant=GFM;q=0.3', 'text/markdown'],
  ['text/markdown;variant="a;q=1,b";q=0, text/plain', 'text/plain'],
  ['application/json;profile="x, text/plain"', 'application/json'],
  ['text/*', 'text/markdown'],
  ['text/plain', 'text/plain'],
  ['text/plain;charset=utf-8, */*;q=0.1', 'text/plain'],
  ['text/markdown;q=0.2, text/plain;q=0.9, application/json;q=0.5', 'text/plain'],
  ['text/markdown;q=0, text/*', 'text/plain'],
  ['application/json;q=0, */*', 'text/markdown'],
] as const
const REFUSED = [
  'image/png',
  'text/html',
  'application/xml;q=0.9',
  'application/json;q=0',
  '*/*;q=0',
  'garbage',
  'text/html;level=1',
]

/** A service with a job whose first target is done with `content`, whose second has failed and whose third is pending. */
async function withTargets(content = CONTENT) {
  const service = await buildService()
  const { body } = await service.submit({
    targets: ['a', 'b', 'c'].map((name) => ({ url: `https://${name}.example/` })),
  })
  await service.fetch.next().then((call) => call.succeed(content))
  await service.fetch.next().then((call) => call.fail('http_404'))
  await service.fetch.peek()
  return {
    service,
    read: (idx: number, accept?: string, search = '', method: 'GET' | 'HEAD' = 'GET') =>
      service.app.inject({
        method,
        url: `/jobs/${body.id}/targets/${idx}${search}`,
        headers: { ...alice, ...(accept !== undefined && { accept }) },
      }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

describe('the kind of answer for one target', () => {
  it('is the one that Accept likes best, JSON if it likes all the same', async () => {
    await using targets = await withTargets()
    for (const [accept, type] of ACCEPTED) {
      const { statusCode, headers, body } = await targets.read(0, accept)
      expect(statusCode, accept).toBe(200)
      expect(headers, accept).toMatchObject({
        'content-type': `${type}; charset=utf-8`,
        vary: 'accept',
        'cache-control': 'private, no-cache',
      })
      if (type === 'application/json') expect(JSON.parse(body).result.content).toBe(CONTENT)
      else expect(body).toBe(CONTENT)
    }
  })

  it('is refused with 406 and a word of what there is, if Accept likes none', async () => {
    await using targets = await withTargets()
    for (const accept of REFUSED) {
      expect((await targets.read(0, accept)).json(), accept).toMatchObject({
        status: 406,
        code: 'not_acceptable',
        hint: expect.stringContaining('text/markdown'),
      })
    }
  })

  it.each(['text/markdown', 'text/plain'])(
    'no browser takes bare %s for a page, or runs what is in it',
    async (accept) => {
      await using targets = await withTargets()
      expect((await targets.read(0, accept)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
      })
    },
  )

  it.each([
    [1, 'text/markdown', ''],
    [2, 'text/plain', ''],
    [1, 'application/json', '?limit=5'],
    [2, 'application/json', '?offset=0'],
  ])('target %i without content as %s%s gives 409 with a word why', async (idx, accept, search) => {
    await using targets = await withTargets()
    const answer = await targets.read(idx, accept, search)
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.json()).toMatchObject({
      status: 409,
      code: 'no_content',
      detail: expect.stringContaining(idx === 1 ? 'failed' : 'pending'),
      hint: expect.any(String),
    })
  })

  it.each(['application/json', 'text/markdown', 'text/plain'])(
    'HEAD as %s answers like GET, without a body',
    async (accept) => {
      await using targets = await withTargets()
      const {
        date: _,
        'transfer-encoding': __,
        'x-request-id': ___,
        'content-length': ____,
        ...expected
      } = (await targets.read(0, accept)).headers
      const answer = await targets.read(0, accept, '', 'HEAD')
      expect(answer).toMatchObject({ statusCode: 200, body: '', headers: expected })
    },
  )
})

describe('a target that is purged between the look-up of its job and the reading of its outcome', () => {
  it.each([
    ['/targets/0', 'application/json'],
    ['/targets/0', 'text/markdown'],
    ['/targets/0?limit=1', 'application/json'],
    ['', 'application/json'],
    ['/results', '*/*'],
  ])('is not there any more: %s as %s', async (path, accept) => {
    await using service = await buildService({
      wrapStore: (store) => ({ ...store, readOutcome: async () => undefined }),
    })
    service.fetch.answer((call) => call.succeed('A'))
    const { body } = await service.submit(['a'])
    await service.runner.idle()
    const answer = await service.app.inject({ url: `/jobs/${body.id}${path}`, headers: { ...alice, accept } })
    expect(answer.json()).toMatchObject({ status: 404, code: 'job_not_found' })
    expect(answer.headers).not.toHaveProperty('etag')
  })

  it('cuts off what has begun, and is no fault', async () => {
    const lines: string[] = []
    await using service = await buildService({
      log: { write: (line) => void lines.push(line) },
      wrapStore: (store) => ({
        ...store,
        readOutcome: async (id, idx) => (idx < 2 ? store.readOutcome(id, idx) : undefined),
      }),
    })
    service.fetch.answer((call) => call.succeed('x'.repeat(100_000)))
    const { body } = await service.submit(['a', 'b', 'c'])
    await service.runner.idle()
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const answer = await openRequest(`${origin}/jobs/${body.id}`)
    await expect(answer.text()).rejects.toThrow('aborted')
    expect(lines.filter((line) => line.includes('request failed'))).toEqual([])
  })
})

describe('a content in parts', () => {
  it('never cuts a character, and the parts are the whole', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 60 })
    const broken = fc.array(fc.constantFrom('a', '\uD83D', '\uDE00', '👍')).map((units) => units.join(''))
    fc.assert(
      fc.property(fc.oneof(texts, broken), fc.integer({ min: 1, max: 9 }), (whole, limit) => {
        const parts: string[] = []
        for (let at: number | undefined = 0; at !== undefined;) {
          const { text, total, next } = sliceText(whole, at, limit)
          expect(total).toBe(whole.length)
          expect(text.length).toBeLessThanOrEqual(Math.max(limit, 2))
          if (next !== undefined) expect(next).toBe(at + text.length)
          if (whole.isWellFormed()) expect(text.isWellFormed()).toBe(true)
          parts.push(text)
          at = next
        }
        expect(parts.join('')).toBe(whole)
        if (whole !== '') expect(parts).not.toContain('')
      }),
    )
  })

  it('starts at any offset without cutting a character', () => {
    const places = fc.nat(40)
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 30 }),
        places,
        fc.integer({ min: 1, max: 40 }),
        (whole, offset, limit) => {
          const { text, total, next } = sliceText(whole, offset, limit)
          expect(total).toBe(whole.length)
          expect(text.isWellFormed()).toBe(whole.isWellFormed())
          expect(whole.slice(Math.max(0, offset - 1), offset + Math.max(limit, 2))).toContain(text)
          if (next === undefined) expect(whole.endsWith(text)).toBe(true)
        },
      ),
    )
  })

  it('is read to its end by `next_offset`, as JSON and bare, with the length of the whole each time', async () => {
    await using targets = await withTargets()
    const { meta } = (await targets.read(0)).json().result
    const json: string[] = []
    const bare: string[] = []
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const search: string = `?offset=${offset}&limit=7`
      const { url, status, result } = (await targets.read(0, 'application/json', search)).json()
      const { headers, body } = await targets.read(0, 'text/markdown', search)
      expect({ url, status, meta: result.meta }).toEqual({ url: 'https://a.example/', status: 'done', meta })
      expect(body).toBe(result.content)
      expect(headers['total-chars']).toBe(String(CONTENT.length))
      expect(result.total_chars).toBe(CONTENT.length)
      expect(headers['next-offset']).toBe(result.next_offset?.toString())
      json.push(result.content)
      bare.push(body)
      offset = result.next_offset
    }
    expect(json.length).toBeGreaterThan(5)
    expect(json.join('')).toBe(CONTENT)
    expect(bare.join('')).toBe(CONTENT)
  })

  it('is whole or empty at the edges', async () => {
    await using targets = await withTargets('abc')
    const part = async (search: string) => (await targets.read(0, 'application/json', search)).json().result
    expect(await part('?offset=0')).toMatchObject({ content: 'abc', total_chars: 3 })
    expect(await part('?limit=3')).not.toHaveProperty('next_offset')
    expect(await part('?offset=1&limit=1')).toMatchObject({ content: 'b', total_chars: 3, next_offset: 2 })
    expect(await part('?offset=3')).toMatchObject({ content: '', total_chars: 3 })
    expect(await part('?offset=1000000000')).toMatchObject({ content: '', total_chars: 3 })
    expect((await targets.read(0)).json().result).not.toHaveProperty('total_chars')
  })

  it('of an empty content is empty', async () => {
    await using targets = await withTargets('')
    const answer = await targets.read(0, 'text/plain', '?limit=1')
    expect(answer).toMatchObject({ statusCode: 200, body: '', headers: { 'total-chars': '0' } })
  })

  it('tells everything about the target that the whole tells, also what the schema does not name', async () => {
    await using service = await buildService({
      wrapStore: (store) => ({
        ...store,
        readOutcome: async () =>
          Buffer.from('{"result":{"content":"abc","meta":{"bytes":3,"of_a_later_version":true}}}'),
      }),
    })
    service.fetch.answer((call) => call.succeed('abc'))
    const { body } = await service.submit({ targets: [{ url: 'https://a.example/', custom_id: 'x' }] })
    await service.runner.idle()
    const answer = await service.app.inject({ url: `/jobs/${body.id}/targets/0?limit=1`, headers: alice })
    expect(answer.json()).toEqual({
      idx: 0,
      custom_id: 'x',
      url: 'https://a.example/',
      status: 'done',
      result: { content: 'a', total_chars: 3, next_offset: 1, meta: { bytes: 3, of_a_later_version: true } },
    })
  })

  it('is refused at a place that is none', async () => {
    await using targets = await withTargets()
    for (const search of ['offset=-1', 'limit=0', 'limit=x', 'offset=1.5', 'offset=', 'page=2']) {
      const answer = await targets.read(0, 'text/plain', `?${search}`)
      expect(answer.json(), search).toMatchObject({ status: 422, code: 'validation_failed' })
    }
  })
})
