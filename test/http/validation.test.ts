import { describe, expect, it } from 'vitest'

import { buildService, numbered, targets } from '../helpers/service.ts'

const url = 'https://a.example/'

/** The faults of `body` as a map from pointer to detail. */
async function faultsOf(body: unknown): Promise<Record<string, string>> {
  await using service = await buildService()
  const { status, body: problem } = await service.submit(body as never)
  expect({ status, code: problem.code }).toEqual({ status: 422, code: 'validation_failed' })
  expect(service.fetch.waiting).toBe(0)
  return Object.fromEntries(problem.errors.map(({ pointer, detail }) => [pointer, detail]))
}

describe('validation of a submission', () => {
  it.each<{ what: string; body: object; pointer: string; says: RegExp }>([
    { what: 'no target', body: { targets: [] }, pointer: '/targets', says: /fewer than 1/ },
    { what: 'an unknown field', body: { targets: [{ url }], target: 1 }, pointer: '/target', says: /no such field/ },
    {
      what: 'an unknown field of a target',
      body: { targets: [{ url, 'a/b~c': 1 }] },
      pointer: '/targets/0/a~1b~0c',
      says: /no such field/,
    },
    {
      what: 'an unknown option',
      body: { targets: [{ url, options: { depth: 2 } }] },
      pointer: '/targets/0/options/depth',
      says: /no such field/,
    },
    { what: 'a missing URL', body: { targets: [{}] }, pointer: '/targets/0/url', says: /missing/ },
    {
      what: 'a URL that is a number',
      body: { targets: [{ url: 1 }] },
      pointer: '/targets/0/url',
      says: /must be string/,
    },
    {
      what: 'a URL without a host',
      body: { targets: [{ url: 'https://' }] },
      pointer: '/targets/0/url',
      says: /absolute/,
    },
    { what: 'a relative URL', body: { targets: [{ url: '/x' }] }, pointer: '/targets/0/url', says: /absolute/ },
    {
      what: 'another scheme',
      body: { targets: [{ url: 'ftp://a.example/' }] },
      pointer: '/targets/0/url',
      says: /http/,
    },
    {
      what: 'credentials',
      body: { targets: [{ url: 'https://u:p@a.example/' }] },
      pointer: '/targets/0/url',
      says: /password|credentials/,
    },
    {
      what: 'a URL that is too long',
      body: { targets: [{ url: `https://a.example/${'x'.repeat(8_200)}` }] },
      pointer: '/targets/0/url',
      says: /8192/,
    },
    {
      what: 'an unknown mode',
      body: { targets: [{ url, options: { mode: 'pdf' } }] },
      pointer: '/targets/0/options/mode',
      says: /one of: auto, /,
    },
    {
      what: 'pages that run backwards',
      body: { targets: [{ url, options: { pages: '9-7' } }] },
      pointer: '/targets/0/options/pages',
      says: /Write pages/,
    },
    {
      what: 'pages from zero, for all',
      body: { targets: [{ url }], options: { pages: '0' } },
      pointer: '/options/pages',
      says: /Write pages/,
    },
    {
      what: 'the same custom id twice',
      body: {
        targets: [
          { url, custom_id: 'x' },
          { url, custom_id: 'x' },
        ],
      },
      pointer: '/targets',
      says: /custom_id/,
    },
    {
      what: 'a custom id with half a character',
      body: { targets: [{ url, custom_id: '\ud800' }] },
      pointer: '/targets/0/custom_id',
      says: /well-formed/,
    },
    {
      what: 'a prototype for a field',
      body: JSON.parse(`{"targets":[{"url":"${url}"}],"__proto__":{"reuse":false}}`),
      pointer: '/__proto__',
      says: /no such field/,
    },
    { what: 'a list for a body', body: [], pointer: '', says: /must be object/ },
  ])('refuses $what at $pointer', async ({ body, pointer, says }) => {
    const faults = await faultsOf(Array.isArray(body) ? { targets: body } : body)
    if (Array.isArray(body)) return expect(faults).toHaveProperty(['/targets'])
    expect(faults).toEqual({ [pointer]: expect.stringMatching(says) })
  })

  it.each([
    ['jq', '.a |', /no jq 1\.7 program: syntax error/],
    ['jq', 'nonsense', /nonsense\/0 is not defined/],
    ['jq', 'import "m" as m; .', /import/],
    ['grep', '(', /no RE2 expression: missing closing \)/],
    ['grep', '(?=x)', /Perl syntax/],
    ['grep', '(a)\\1', /escape sequence/],
    ['question', ' \n', /pattern/],
    ['question', '', /fewer than 1/],
    ['jq', 'x'.repeat(8_193), /more than 8192/],
    ['grep', 'x'.repeat(1_001), /more than 1000/],
  ])('refuses %s: %j, of a target and for all', async (option, value, says) => {
    expect(await faultsOf({ targets: [{ url }, { url, options: { [option]: value } }] })).toEqual({
      [`/targets/1/options/${option}`]: expect.stringMatching(says),
    })
    expect(await faultsOf({ targets: [{ url }], options: { [option]: value } })).toEqual({
      [`/options/${option}`]: expect.stringMatching(says),
    })
  })

  it('compiles the programs of a submission that is a reuse, and of one over the caps, before it looks further', async () => {
    await using service = await buildService()
    await service.submit(['a'])
    const refused = await service.submit({ targets: [{ url, options: { jq: '.a |' } }] })
    expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
  })

  it('tells every fault in one answer, at most 20', async () => {
    expect(await faultsOf({ targets: [{ url: 1 }, { url, x: 1 }, {}], reuse: 'no', extra: true })).toEqual({
      '/targets/0/url': expect.any(String),
      '/targets/1/x': expect.any(String),
      '/targets/2/url': expect.any(String),
      '/reuse': expect.any(String),
      '/extra': expect.any(String),
    })
    expect(Object.keys(await faultsOf({ targets: numbered(32).map(() => ({ url: 1 })) }))).toHaveLength(20)
  })

  it.each([
    ['a string for a flag', { targets: targets('a'), reuse: 'true' }],
    ['a number for a flag', { targets: targets('a'), reuse: 1 }],
    ['a number for a string', { targets: [{ url, custom_id: 7 }] }],
    ['an object for a list', { targets: { 0: { url } } }],
    ['null for an option', { targets: [{ url, options: null }] }],
  ])('coerces nothing: %s is refused', async (_what, body) => {
    expect(Object.keys(await faultsOf(body))).toHaveLength(1)
  })

  it('fills nothing in: the runner gets the options that were sent, and no others', async () => {
    await using service = await buildService()
    await service.submit({ targets: [{ url, options: { mode: 'full' } }, { url }] })
    const first = await service.fetch.next()
    expect(first.options).toEqual({ mode: 'full' })
    first.succeed('A')
    expect((await service.fetch.next()).options).toEqual({})
  })

  it('refuses 50,000 bad targets before it looks at any of them', async () => {
    await using service = await buildService()
    const body = `{"targets":[${Array.from({ length: 50_000 }, () => '1').join()}],"bad":1}`
    const response = await service.app.inject({
      method: 'POST',
      url: '/jobs',
      headers: { 'content-type': 'application/json' },
      payload: body,
    })
    expect(response.statusCode).toBe(422)
    expect(response.json()).toMatchObject({
      code: 'too_many_targets',
      limit: 32,
      detail: expect.stringContaining('50000'),
    })
    expect(response.json()).not.toHaveProperty('errors')
  })

  it('validates a list that is short enough to be validated before it counts it', async () => {
    const faults = await faultsOf({ targets: [...numbered(999).map(() => ({ url })), { url: 1 }] })
    expect(faults).toHaveProperty(['/targets/999/url'])
  })

  it('takes names in other scripts, white space around a URL, and every printable custom id', async () => {
    await using service = await buildService()
    const { status, body } = await service.submit({
      targets: [
        { url: 'http://дом.test/', custom_id: 'дом' },
        { url: ' https://i❤.ws/ ', custom_id: '𠮷 "quoted" \\' },
      ],
    })
    expect(status).toBe(202)
    expect(body.targets.map(({ custom_id }) => custom_id)).toEqual(['дом', '𠮷 "quoted" \\'])
  })
})

describe('validation of a query', () => {
  it.each(['?limit=0', '?limit=101', '?limit=x', '?limit=', '?after=zzz&limit=1e99', '?page=2'])(
    'refuses %s',
    async (query) => {
      await using service = await buildService()
      expect((await service.list(query)).body).toMatchObject({ status: 422, code: 'validation_failed' })
    },
  )

  it('refuses an unknown view', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    expect((await service.app.inject(`/jobs/${body.id}?view=short`)).json()).toMatchObject({
      code: 'validation_failed',
    })
  })
})
