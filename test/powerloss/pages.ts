import { createServer, type ServerResponse } from 'node:http'

import { serve } from '../helpers/raw-server.ts'

interface Pages extends AsyncDisposable {
  readonly origin: string
  /** Answers what is held, and what would be held later on. */
  release(): void
}

/**
 * Pages for one caller, on the address 127.0.0.`number`. `/…/text/1000` is a text of 1,000 bytes that no other path
 * has, `/…/held` answers when it is released, all else is not found. `await using` closes it.
 */
export async function servePages(number: number): Promise<Pages> {
  const released = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const size = /\/text\/(\d+)$/.exec(path)?.[1]
    if (size !== undefined) return sendText(response, textOf(path, Number(size)))
    if (path.endsWith('/held')) return void released.promise.then(() => sendText(response, 'at last'))
    return response.writeHead(404).end()
  })
  const { origin, [Symbol.asyncDispose]: close } = await serve(server, { host: `127.0.0.${number}` })
  return {
    origin,
    release: released.resolve,
    [Symbol.asyncDispose]: close,
  }
}

const sendText = (response: ServerResponse, text: string) => response.setHeader('content-type', 'text/plain').end(text)

/** Each line says where it stands, so that no part can stand in for another. */
function textOf(path: string, size: number): string {
  const lines = Array.from({ length: Math.ceil(size / path.length) }, (_, index) => `${path} ${index}\n`)
  return lines.join('').slice(0, size)
}
