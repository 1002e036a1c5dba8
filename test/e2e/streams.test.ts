import { connect } from 'node:net'

import { expect, it } from 'vitest'

import type { JobView, TargetView } from '../../src/jobs/schema.ts'
import { nextEvent, openRequest, restOfEvents } from '../helpers/open-request.ts'
import { servePages } from '../helpers/page-server.ts'
import { startService } from '../helpers/process.ts'
import { serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const LARGE_BYTES = 4_000_000

it('SIGTERM ends every open stream cleanly, and each goes on after the restart without a gap or a repeat', async () => {
  using temp = tempFolder()
  await using pages = await servePages()
  const env = { DATABASE_URL: `file:${temp.file('jobs.db')}` }
  const service = await startService(env)
  const targets = ['/text', '/slow', '/article'].map((path) => ({ url: pages.origin + path }))
  const { body } = await service.submit({ targets })
  const at = (origin: string, rest: string) => `${origin}/jobs/${body.id}${rest}`
  const lines = await openRequest(at(service.origin, '/results?follow=true'))
  const events = await openRequest(at(service.origin, '/events'))
  const waiting = openRequest(at(service.origin, '?view=summary'), { headers: { prefer: 'wait=50' } })
  expect(JSON.parse((await lines.line()) ?? '')).toMatchObject({ idx: 0, status: 'done' })
  expect(await nextEvent(events)).toMatchObject({ event: 'target', id: '1' })
  await pages.slowAsked

  const stopped = service.stop('SIGTERM')
  expect(await lines.rest()).toEqual([])
  expect(await restOfEvents(events)).toEqual([])
  expect(JSON.parse(await (await waiting).text())).toMatchObject({ status: 'running', targets_done: 1 })
  await pages.release()
  expect(await stopped).toBe(0)

  const again = await startService(env)
  const left = await (await openRequest(at(again.origin, '/results?follow=true&from=1'))).rest()
  expect(left.map((line) => JSON.parse(line) as TargetView)).toMatchObject([{ idx: 1, result: { content: 'at last' } }])
  const missed = await restOfEvents(
    await openRequest(at(again.origin, '/events'), { headers: { 'last-event-id': '1' } }),
  )
  expect(missed).toMatchObject([
    { event: 'target', id: '2' },
    { event: 'job', id: 'end' },
  ])
  expect(JSON.parse(missed[1]?.data ?? '') as JobView).toMatchObject({
    status: 'failed',
    error: 'restart',
    targets_done: 2,
  })
  expect(await again.stop('SIGTERM')).toBe(0)
}, 60_000)

it('SIGTERM is not held up by a client that has stopped reading', async () => {
  using temp = tempFolder()
  const large = { type: 'text/plain', body: 'A line of text.\n'.repeat(LARGE_BYTES / 16) }
  const paths = Array.from({ length: 8 }, (_, n) => `/${n}`)
  await using server = await serve(Object.fromEntries(paths.map((path) => [path, large])))
  const service = await startService({ DATABASE_URL: `file:${temp.file('jobs.db')}` })
  const { body } = await service.submit({ targets: paths.map((path) => ({ url: server.origin + path })) })
  const ended = await openRequest(`${service.origin}/jobs/${body.id}?view=summary`, { headers: { prefer: 'wait=50' } })
  expect(JSON.parse(await ended.text())).toMatchObject({ status: 'done', targets_done: 8 })

  const socket = connect(Number(new URL(service.origin).port), '127.0.0.1')
  socket.write(`GET /jobs/${body.id} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Caller-Id: alice\r\n\r\n`)
  await new Promise((resolve) => socket.once('readable', resolve)) // It has begun, and is not read any further.
  socket.on('error', () => {}) // Cut off in the end.
  expect(await service.stop('SIGTERM')).toBe(0)
  socket.destroy()
}, 60_000)
