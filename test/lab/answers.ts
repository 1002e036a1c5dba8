import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

import type { Answer, LabRequest, Places } from './behaviour.ts'

/** Milliseconds between two drops of a drip. */
const DROP_MS = 20

type Bytes = string | Uint8Array

/** Resolves once the bytes have left, or cannot leave any more. A character of a text is a byte. */
export const send = (socket: Socket, bytes: Bytes): Promise<void> =>
  new Promise((resolve) => {
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes, () => resolve())
  })

/** The head of an answer. @param fields lines such as `Location: /`. */
export const head = (status: string, ...fields: readonly string[]): string =>
  `${[`HTTP/1.1 ${status}`, ...fields].join('\r\n')}\r\n\r\n`

/** The head of a page of plain text. */
export const textHead = (...fields: readonly string[]): string => head('200 OK', 'Content-Type: text/plain', ...fields)

/** A whole answer, whose length is right. @param body text is sent as UTF-8. */
export function message(status: string, fields: readonly string[] = [], body: Bytes = ''): Buffer {
  const bytes = Buffer.from(body as string)
  return Buffer.concat([Buffer.from(head(status, ...fields, `Content-Length: ${bytes.byteLength}`), 'latin1'), bytes])
}

/** Answers every request with these bytes, and leaves the connection open. */
export const always =
  (bytes: Bytes): Answer =>
  (socket) =>
    send(socket, bytes)

/** Answers 200 with a page. What is costly is made when it is first asked for. */
export function page(type: string, body: Bytes | (() => Bytes | Promise<Bytes>), ...fields: string[]): Answer {
  let answer: Promise<Buffer> | undefined
  const make = async () =>
    message('200 OK', [`Content-Type: ${type}`, ...fields], typeof body === 'function' ? await body() : body)
  return async (socket) => send(socket, await (answer ??= make()))
}

/** Answers with these bytes, and closes the connection. */
export const thenClose =
  (bytes: Bytes): Answer =>
  async (socket) => {
    await send(socket, bytes)
    socket.end()
  }

/** Answers with these bytes, and resets the connection. */
export const thenReset =
  (bytes: Bytes): Answer =>
  async (socket) => {
    await send(socket, bytes)
    socket.resetAndDestroy()
  }

/** Answers with these bytes, and says nothing more: the request ends with its connection. */
export const thenSilence =
  (bytes: Bytes): Answer =>
  async (socket) => {
    await send(socket, bytes)
    await new Promise<never>(() => undefined)
  }

/** Answers with a start, then with a drop again and again, slowly, at most `drops` of them, and with an end. */
export const drip =
  (start: Bytes, drop: Bytes, drops = Number.POSITIVE_INFINITY, end: Bytes = ''): Answer =>
  async (socket) => {
    await send(socket, start)
    for (let count = 0; count < drops && !socket.destroyed; count += 1) {
      await setTimeout(DROP_MS, undefined, { ref: false })
      await send(socket, drop)
    }
    await send(socket, end)
  }

/** Answers with a start, then with a piece again and again, as fast as it is taken. */
export const flood =
  (start: Bytes, piece: Bytes): Answer =>
  async (socket) => {
    await send(socket, start)
    while (!socket.destroyed) await send(socket, piece)
  }

/** Redirects. @param location a character for each byte. */
export const redirect =
  (location: (places: Places, request: LabRequest) => string, status = '302 Found', ...fields: string[]): Answer =>
  (socket, request, places) =>
    send(socket, message(status, [`Location: ${location(places, request)}`, ...fields]))
