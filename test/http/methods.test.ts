import { METHODS, request } from 'node:http'

import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

const UUID = '01a232a6-0000-7000-8000-000000000000'
const PATHS = {
  '/jobs': ['GET', 'HEAD', 'OPTIONS', 'POST'],
  [`/jobs/${UUID}`]: ['DELETE', 'GET', 'HEAD', 'OPTIONS'],
  [`/jobs/${UUID}/retry`]: ['OPTIONS', 'POST'],
  [`/jobs/${UUID}/results`]: ['GET', 'HEAD', 'OPTIONS'],
  [`/jobs/${UUID}/events`]: ['GET', 'HEAD', 'OPTIONS'],
  [`/jobs/${UUID}/targets/0`]: ['GET', 'HEAD', 'OPTIONS'],
  '/livez': ['GET', 'HEAD', 'OPTIONS'],
  '/openapi.json': ['GET', 'HEAD', 'OPTIONS'],
}

/** Sends one request over a socket, since only that knows every method. */
function send(origin: string, method: string, path: string, body?: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; allow: string; body: string }>()
  const sent = request(
    origin + path,
    { method, agent: false, headers: { 'content-type': 'text/plain' } },
    (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, allow: response.headers.allow ?? '', body: text })
      })
    },
  )
  sent.on('error', reject).end(body)
  return promise
}

describe('methods', () => {
  it('that a path does not have are refused with 405 and those that it has, whatever they are', async () => {
    await using service = await buildService()
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    for (const [path, allowed] of Object.entries(PATHS)) {
      // CONNECT is for proxies: Node closes its connection.
      for (const method of METHODS.filter((name) => name !== 'CONNECT' && !allowed.includes(name))) {
        const { status, allow, body } = await send(origin, method, path)
        expect([method, path, status, allow]).toEqual([method, path, 405, allowed.join(', ')])
        const code = method === 'HEAD' ? undefined : (JSON.parse(body) as { code: string }).code
        expect(code).toBe(method === 'HEAD' ? undefined : 'method_not_allowed')
      }
    }
  })

  it('that it has are not refused: HEAD goes where GET does', async () => {
    await using service = await buildService()
    for (const [url, allowed] of Object.entries(PATHS)) {
      for (const method of allowed as 'GET'[]) {
        const { statusCode } = await service.app.inject({ method, url })
        expect([method, url, statusCode === 405]).toEqual([method, url, false])
      }
    }
  })

  it('are told to OPTIONS, with no body and no CORS', async () => {
    await using service = await buildService()
    for (const [url, allowed] of Object.entries(PATHS)) {
      const { statusCode, headers, body } = await service.app.inject({ method: 'OPTIONS', url: `${url}?x=1` })
      expect([url, statusCode, headers.allow, body]).toEqual([url, 204, allowed.join(', '), ''])
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers).toHaveProperty('x-request-id')
    }
  })

  it('of a path that is not there answer 404, whatever the body', async () => {
    await using service = await buildService()
    for (const url of ['/', '/nowhere', '/jobs/x/y', '/jobs/x/targets/0/', '/jobsx', '/openapiXjson', '/JOBS']) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE'] as const) {
        const headers = { 'content-type': 'text/plain' }
        const response = await service.app.inject({ method, url, headers, payload: 'x' })
        expect([method, url, response.statusCode]).toEqual([method, url, 404])
        expect([method, url, response.json()]).toMatchObject([method, url, { code: 'not_found' }])
        expect(response.headers).not.toHaveProperty('allow')
      }
    }
  })

  it('are refused before a body is read', async () => {
    await using service = await buildService()
    const headers = { 'content-type': 'application/json' }
    const response = await service.app.inject({ method: 'PUT', url: '/jobs', headers, payload: '{' })
    expect(response.json()).toMatchObject({ code: 'method_not_allowed' })
  })
})
