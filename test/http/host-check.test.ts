import { describe, expect, it } from 'vitest'

import { createKey, digestKey } from '../../src/api-key.ts'
import { buildService, targets } from '../helpers/service.ts'

const list = { method: 'GET' as const, url: '/jobs' }
const submit = { method: 'POST' as const, url: '/jobs', payload: { targets: targets('a') } }

describe('the Host of a request', () => {
  const good = [
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    'pagehaul.localhost:8080',
    '127.0.0.1:8080',
    '192.168.1.7',
    '[::1]',
    '[::1]:8080',
    '[FD00::1]:8080',
    'Pagehaul:8080',
    'pagehaul.example.com',
    'pagehaul.example.com.:443',
  ]
  it('can be its address, localhost, or a name that it was given', async () => {
    await using service = await buildService({ access: { allowedHosts: ['pagehaul', 'pagehaul.example.com'] } })
    for (const host of good) {
      const { statusCode } = await service.app.inject({ ...list, headers: { host } })
      expect([host, statusCode]).toEqual([host, 200])
    }
  })

  const bad = [
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.nip.example',
    '127.0.0.1@evil.example',
    'evil.example#localhost',
    '0x7f.1',
    '2130706433',
    '[evil.example]',
    '[127.0.0.1]',
    '::1',
    'pagehaul.example.com.evil.example',
    'sub.pagehaul.example.com',
    'a,localhost',
  ]
  it('cannot be another name: a page of that name may have pointed it here', async () => {
    await using service = await buildService({ access: { allowedHosts: ['pagehaul.example.com'] } })
    const requests = [list, submit, { ...list, url: '/jobs/x/events' }]
    for (const [host, request] of bad.flatMap((host) => requests.map((one) => [host, one] as const))) {
      const response = await service.app.inject({ ...request, headers: { host } })
      expect([host, response.statusCode]).toEqual([host, 421])
      expect(response.json()).toMatchObject({
        code: 'misdirected_request',
        hint: expect.stringContaining('PAGEHAUL_ALLOWED_HOSTS'),
      })
    }
  })

  it('is not asked for by probes, which hold nothing of a caller', async () => {
    await using service = await buildService()
    for (const url of ['/livez', '/readyz', '/openapi.json']) {
      expect((await service.app.inject({ url, headers: { host: 'pod-7.cluster.example' } })).statusCode).toBe(200)
    }
  })

  it('does not matter if any is allowed', async () => {
    await using service = await buildService({ access: { allowedHosts: '*' } })
    expect((await service.app.inject({ ...list, headers: { host: 'evil.example' } })).statusCode).toBe(200)
  })
})

describe('a request of a web page', () => {
  const unsafe = [
    submit,
    { method: 'POST' as const, url: '/jobs/x/retry' },
    { method: 'DELETE' as const, url: '/jobs/x' },
  ]

  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:3000' },
    { origin: 'http://localhost:8080.evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'http://localhost:8080' },
    { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8080' },
  ]
  it('of another origin changes nothing', async () => {
    await using service = await buildService()
    for (const [headers, request] of foreign.flatMap((one) => unsafe.map((request) => [one, request] as const))) {
      const response = await service.app.inject({ ...request, headers: { host: 'localhost:8080', ...headers } })
      expect([headers, response.statusCode]).toEqual([headers, 403])
      expect(response.json()).toMatchObject({ code: 'cross_origin' })
    }
    expect((await service.app.inject(list)).json()).toEqual({ jobs: [] })
  })

  const own: Record<string, string>[] = [
    {},
    { origin: 'http://localhost:8080' },
    { origin: 'https://localhost:8080', 'sec-fetch-site': 'same-origin' },
    { origin: 'https://public.example', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-mode': 'cors' },
  ]
  it('of the same origin is taken, and that of a program, which has none', async () => {
    await using service = await buildService()
    for (const headers of own) {
      const response = await service.app.inject({ ...submit, headers: { host: 'localhost:8080', ...headers } })
      expect([headers, response.statusCode]).toEqual([headers, 202])
    }
  })

  it('is refused as a page of another origin also where there are keys', async () => {
    const key = createKey()
    const apiKeys = [{ name: 'alice', digest: digestKey(key), expiresAt: undefined }]
    await using service = await buildService({ access: { apiKeys, allowedHosts: '*' } })
    const headers = { authorization: `Bearer ${key}`, origin: 'https://evil.example' }
    expect((await service.app.inject({ ...submit, headers })).statusCode).toBe(403)
  })

  it('gets no leave to read what it asks for', async () => {
    await using service = await buildService()
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const method of ['GET', 'OPTIONS'] as const) {
      const { headers: answered } = await service.app.inject({ method, url: '/jobs', headers })
      expect(Object.keys(answered).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})
