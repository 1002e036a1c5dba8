import { describe, expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const HEADERS = { 'x-request-id': 'r-1' }

interface Line {
  readonly requestId: string
  readonly msg: string
  readonly route?: string
}

function captureLog() {
  const lines: Line[] = []
  return { lines, log: { write: (line: string) => void lines.push(JSON.parse(line) as Line) } }
}

describe('the id of a request', () => {
  it('is taken from the client, echoed and logged', async () => {
    const { lines, log } = captureLog()
    await using service = await buildService({ log })
    for (const id of ['r-1', '!', '~'.repeat(128), '4bf92f3577b34da6a3ce929d0e0e4736', '"quoted"']) {
      const response = await service.app.inject({ url: '/jobs', headers: { 'x-request-id': id } })
      expect(response.headers['x-request-id']).toBe(id)
      expect(lines.at(-1)?.requestId).toBe(id)
    }
  })

  it('is a new one where it is missing or not fit for a log', async () => {
    const { lines, log } = captureLog()
    await using service = await buildService({ log })
    for (const id of [undefined, '', '~'.repeat(129), 'two words', 'tab\tbed', 'naïve', `phk_${'0'.repeat(39)}`]) {
      const response = await service.app.inject({
        url: '/jobs',
        headers: id === undefined ? {} : { 'x-request-id': id },
      })
      expect(response.headers['x-request-id']).toMatch(UUID)
      expect(lines.at(-1)?.requestId).toBe(response.headers['x-request-id'])
    }
    expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(lines.length)
  })

  it.each([
    { what: 'a route that refuses', method: 'GET', url: '/jobs/x', status: 404, route: '/jobs/:id' },
    { what: 'a path that is not there', method: 'GET', url: '/nowhere', status: 404 },
    { what: 'a path that does not decode', method: 'GET', url: '/jobs/%', status: 404 },
    { what: 'a method that is not there', method: 'PATCH', url: '/jobs', status: 405 },
    { what: 'a refused body', method: 'POST', url: '/jobs', status: 415, route: '/jobs' },
    { what: 'a refused query', method: 'GET', url: '/jobs?limit=0', status: 422, route: '/jobs' },
  ] as const)(
    'is in the problem, its header and its one line of the log: $what',
    async ({ method, url, ...expected }) => {
      const { lines, log } = captureLog()
      await using service = await buildService({ log })
      const response = await service.app.inject({ method, url, headers: HEADERS })
      expect(response.statusCode).toBe(expected.status)
      expect(response.headers['x-request-id']).toBe('r-1')
      expect(response.json()).toMatchObject({ request_id: 'r-1' })
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatchObject({
        requestId: 'r-1',
        msg: 'request finished',
        method,
        statusCode: expected.status,
        durationMs: expect.any(Number),
      })
      expect(lines[0]?.route).toBe('route' in expected ? expected.route : undefined)
    },
  )

  it('is on the line of an error, too', async () => {
    const { lines, log } = captureLog()
    await using service = await buildService({
      log,
      wrapStore: (store) => ({ ...store, list: () => Promise.reject(new Error('the disk is gone')) }),
    })
    const response = await service.app.inject({ url: '/jobs', headers: HEADERS })
    expect(response.json()).toMatchObject({ code: 'internal_error', request_id: 'r-1' })
    expect(lines).toMatchObject([
      { requestId: 'r-1', msg: 'request failed' },
      { requestId: 'r-1', msg: 'request finished' },
    ])
  })
})
