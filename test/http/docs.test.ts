import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

const REFERENCE = /\b(?:src|href)="([^"]*)"/g

describe('/docs', () => {
  it.each(['/docs', '/docs/'])('%s refers to files of the service alone, and all of them are there', async (url) => {
    await using service = await buildService({ docs: true })
    const page = await service.app.inject(url)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    const references = [...page.body.matchAll(REFERENCE)].map(([, reference]) => reference ?? '')
    expect(references.length).toBeGreaterThan(4)
    for (const reference of references) {
      const { origin, pathname } = new URL(reference, `http://service.test${url}`)
      expect(origin).toBe('http://service.test')
      expect((await service.app.inject(pathname)).statusCode, pathname).toBe(200)
    }
  })

  it('runs and loads only what comes from the service, nothing that stands in the page', async () => {
    await using service = await buildService({ docs: true })
    const { headers, body } = await service.app.inject('/docs/')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none';")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    expect(body).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>|<style|\son\w+=/i)
  })

  it('asks nobody else to validate the document', async () => {
    await using service = await buildService({ docs: true })
    const script = (await service.app.inject('/docs/static/swagger-initializer.js')).body
    expect(script).toContain('validatorUrl: null')
    expect((await service.app.inject('/docs/json')).json()).toEqual((await service.app.inject('/openapi.json')).json())
  })

  it('is not there if it is switched off; the document still is', async () => {
    await using service = await buildService({ docs: false })
    for (const url of ['/docs', '/docs/', '/docs/json', '/docs/static/swagger-ui.css']) {
      expect((await service.app.inject(url)).json(), url).toMatchObject({ status: 404, code: 'not_found' })
    }
    expect((await service.app.inject('/openapi.json')).statusCode).toBe(200)
  })
})
