import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { serve as listen } from './raw-server.ts'

/** What a path answers: a body and its type, or whatever the function does. */
export type Route =
  | { readonly type?: string; readonly status?: number; readonly body: string | Uint8Array }
  | ((request: IncomingMessage, response: ServerResponse) => void)

/** A server on a free port of 127.0.0.2 that knows these paths and answers 404 to others. `await using` closes it. */
export async function serve(routes: Readonly<Record<string, Route>>) {
  const hits: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    hits.push(path)
    const route = routes[path]
    if (typeof route === 'function') return route(request, response)
    if (route === undefined)
      return response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such page.')
    const { type, status = 200, body } = route
    return response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body)
  })
  const { origin, port, [Symbol.asyncDispose]: close } = await listen(server)
  return {
    origin,
    port,
    /** Paths asked for so far. */
    hits,
    [Symbol.asyncDispose]: close,
  }
}
