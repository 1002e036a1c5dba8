import fc from 'fast-check'
import { expect, it } from 'vitest'

import { createShown } from './shown.ts'

const ID = '01a233e9-f63e-7c2e-a967-84c7a49f0a14'
const URL = 'http://127.0.0.10/0/ann/0/text/5'
const JOB = { id: ID, status: 'running', targets_done: 0, targets_failed: 0, expires_at: '2026-01-01T00:00:00Z' }
const SUBMITTED = JSON.stringify({ ...JOB, targets: [{ idx: 0, url: URL, status: 'pending' }] })
const LINE = `{"idx":0,"url":"${URL}","status":"done","result":{"content":"hello"}}`

const whole = (body: string) =>
  `HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const chunked = (...pieces: string[]) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`

const CONVERSATION = whole(SUBMITTED) + chunked(LINE.slice(0, 90), `${LINE.slice(90)}\n`) + whole('{"jobs":[]}')

it('finds what a connection has told, however its bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(CONVERSATION.length)), (cuts) => {
      const shown = createShown()
      const ends = [...cuts.toSorted((a, b) => a - b), CONVERSATION.length]
      for (const [index, end] of ends.entries()) {
        const data = Buffer.from(CONVERSATION.slice(ends[index - 1] ?? 0, end))
        shown.take({ kind: 'send', socket: 'socket:[1]', data })
      }
      expect(shown.jobs.get(ID)?.urls).toEqual([URL])
      expect(shown.jobs.get(ID)?.targets.get(0)?.toString()).toBe(LINE)
    }),
  )
})

it('takes an outcome as told as soon as its status has gone out', () => {
  const shown = createShown()
  const take = (text: string) => shown.take({ kind: 'send', socket: 'socket:[1]', data: Buffer.from(text) })
  take(whole(SUBMITTED))
  const start = chunked(LINE)
  const statusEnd = start.indexOf('"done"') + '"done"'.length
  expect(take(start.slice(0, statusEnd - 1))).toBe(false)
  expect(take(start.slice(statusEnd - 1, statusEnd))).toBe(true)
  expect(shown.jobs.get(ID)?.targets.get(0)?.toString()).toBe(LINE.slice(0, LINE.indexOf(',"result"')))
})
