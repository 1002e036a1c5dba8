import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { ERROR_CODES } from '../../src/errors.ts'
import { DESCRIBED_CODES } from '../../src/http/error-description.ts'
import { TARGET_MEANINGS } from '../../src/http/problem-texts.ts'
import { TARGET_ERRORS } from '../../src/jobs/target-error.ts'
import { buildService } from '../helpers/service.ts'

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('GET /problems/:code', () => {
  it('explains every code of a problem and of a target', async () => {
    await using service = await buildService()
    expect(new Set(DESCRIBED_CODES).size).toBe(ERROR_CODES.length + Object.keys(TARGET_ERRORS).length)
    for (const code of DESCRIBED_CODES) {
      const response = await service.app.inject(`/problems/${code}`)
      expect(response.statusCode, code).toBe(200)
      const isProblem = (ERROR_CODES as readonly string[]).includes(code)
      expect(response.json()).toEqual({
        code,
        kind: isProblem ? 'request' : 'target',
        title: expect.stringMatching(/^[A-Z]/),
        ...(isProblem && { status: expect.any(Number) }),
        meaning: expect.stringMatching(/\.$/),
        remedy: expect.stringMatching(/\.$/),
      })
    }
  })

  it('is where the type of a problem leads', async () => {
    await using service = await buildService()
    const problem = (await service.app.inject('/jobs/none')).json<
      Record<'type' | 'title' | 'status' | 'code', string>
    >()
    const { code, title, status } = problem
    expect((await service.app.inject(problem.type)).json()).toMatchObject({ code, title, status })
  })

  it('explains the status of a site by what it means', async () => {
    await using service = await buildService()
    const { app } = service
    expect((await app.inject('/problems/http_404')).json()).toMatchObject({
      code: 'http_404',
      kind: 'target',
      remedy: expect.stringContaining('recover'),
    })
    for (const code of ['http_', 'http_1', 'http_0404', 'http_40x']) {
      expect((await app.inject(`/problems/${code}`)).statusCode, code).toBe(404)
    }
  })

  it.each(['nothing', 'toString', '__proto__', 'constructor', '%3Cscript%3E'])('has no page for %s', async (code) => {
    await using service = await buildService()
    const response = await service.app.inject({ url: `/problems/${code}`, headers: HTML })
    expect(response.json()).toMatchObject({ status: 404, code: 'not_found' })
  })

  it('is a page for browsers, which runs and loads nothing', async () => {
    await using service = await buildService()
    for (const code of [...DESCRIBED_CODES, 'http_503']) {
      const { headers, body } = await service.app.inject({ url: `/problems/${code}`, headers: HTML })
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+=';/)
      expect(headers).toMatchObject({ vary: 'accept', 'x-content-type-options': 'nosniff' })
      expect(body).toContain(`<code>${code}</code>`)
      expect(body).not.toMatch(/<(script|link|img|iframe|form|object|base)\b|\b(src|href|on\w+)=/i)
    }
  })

  it('answers 406 to whoever wants something else', async () => {
    await using service = await buildService()
    const response = await service.app.inject({ url: '/problems/timeout', headers: { accept: 'image/png' } })
    expect(response.json()).toMatchObject({ status: 406, code: 'not_acceptable' })
  })

  it('says what docs/errors.md says', () => {
    const rows = readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `([a-z_]+\d*)` \| (.+) \| .+ \| (?:yes|no) \|$/gm)
    expect(Object.fromEntries([...rows].map(([, code, cause]) => [code, cause]))).toEqual(TARGET_MEANINGS)
  })
})
