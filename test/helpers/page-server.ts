import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const page = (name: string) => readFileSync(new URL(`../fixtures/pages/${name}`, import.meta.url))
/** 中文网页 in GBK, as the `meta` of the page says and no header does. */
const GBK = Buffer.concat([
  Buffer.from('<!doctype html><html><head><meta charset="gbk"><title>'),
  Buffer.from('d6d0cec4cdf8d2b3', 'hex'),
  Buffer.from('</title></head><body><p>'),
  Buffer.from('d6d0cec4cdf8d2b3', 'hex'),
  Buffer.from('</p></body></html>'),
])

/** Pages of every kind, on a free port of 127.0.0.1. `/slow` waits until `release` is called. `await using` closes it. */
export async function servePages() {
  const hits: string[] = []
  const slow = Promise.withResolvers<ServerResponse>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    hits.push(path)
    const send = (status: number, type: string, body: string | Buffer) =>
      response.writeHead(status, { 'content-type': type }).end(body)
    if (path === '/article') send(200, 'text/html; charset=utf-8', page('article.html'))
    else if (path === '/docs') send(200, 'text/html', page('documentation.html'))
    else if (path === '/table') send(200, 'text/html', page('table.html'))
    else if (path === '/gbk') send(200, 'text/html', GBK)
    else if (path === '/items.json') send(200, 'application/json', page('items.json'))
    else if (path === '/text') send(200, 'text/plain; charset=utf-8', 'plain text\n')
    else if (path === '/moved') response.writeHead(302, { location: '/article' }).end()
    else if (path === '/slow') slow.resolve(response)
    else if (path.startsWith('/echo/')) send(200, 'text/plain', path)
    else
      send(
        404,
        'text/html',
        `<html><body><h1>Not found</h1>${'<p>A long and friendly page, all the same.</p>'.repeat(20)}</body></html>`,
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    hits,
    /** Resolves when `/slow` is asked for. */
    slowAsked: slow.promise.then(() => {}),
    release: async () => (await slow.promise).writeHead(200, { 'content-type': 'text/plain' }).end('at last'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
