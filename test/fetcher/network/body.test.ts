import { createServer, type OutgoingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, createGzip, deflate, deflateRaw, gzip, gzipSync, zstdCompress } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { rawAnswers, rawServer, serve } from '../../helpers/raw-server.ts'
import { testNetwork } from '../../helpers/test-network.ts'

const MEBIBYTE = 1024 * 1024
const TEXT = 'Räuber und Gendarm. '.repeat(500)

const site = (body: Uint8Array | string, headers: OutgoingHttpHeaders = {}, status = 200) =>
  serve(createServer((_request, response) => response.writeHead(status, headers).end(body)))

const compress = {
  gzip: promisify(gzip),
  brotli: promisify(brotliCompress),
  deflate: promisify(deflate),
  deflateRaw: promisify(deflateRaw),
  zstd: promisify(zstdCompress),
}

describe('a compressed body is decoded', () => {
  it.each([
    ['gzip', () => compress.gzip(TEXT)],
    ['x-gzip', () => compress.gzip(TEXT)],
    ['GZIP', () => compress.gzip(TEXT)],
    ['br', () => compress.brotli(TEXT)],
    ['zstd', () => compress.zstd(TEXT)],
    ['deflate', () => compress.deflate(TEXT)],
    ['deflate', () => compress.deflateRaw(TEXT)],
    ['identity', () => Promise.resolve(Buffer.from(TEXT))],
    ['', () => Promise.resolve(Buffer.from(TEXT))],
    ['identity, gzip', () => compress.gzip(TEXT)],
    ['gzip, gzip', async () => compress.gzip(await compress.gzip(TEXT))],
    ['br, gzip', async () => compress.gzip(await compress.brotli(TEXT))],
    [
      'gzip',
      async () => Buffer.concat([await compress.gzip(TEXT.slice(0, 5_000)), await compress.gzip(TEXT.slice(5_000))]),
    ],
    ['gzip', async () => Buffer.concat([await compress.gzip(TEXT), Buffer.alloc(64)])],
    [
      'zstd',
      async () => Buffer.concat([await compress.zstd(TEXT.slice(0, 5_000)), await compress.zstd(TEXT.slice(5_000))]),
    ],
  ])('%s', async (coding, body) => {
    await using server = await site(await body(), { 'content-encoding': coding })
    await using network = testNetwork()
    expect(await network.text(server.origin)).toBe(TEXT)
  })

  it('when its coding stands on several lines', async () => {
    const body = await compress.gzip(await compress.brotli(TEXT))
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`
    await using server = await rawAnswers(() => Buffer.concat([Buffer.from(head), body]))
    await using network = testNetwork()
    expect(await network.text(server.origin)).toBe(TEXT)
  })

  it('and no coding is asked for that is not', async () => {
    await using server = await rawAnswers((head) => {
      const accepted = /^accept-encoding: (.*)$/im.exec(head)?.[1]?.trim() ?? ''
      return `HTTP/1.1 200 OK\r\nContent-Length: ${accepted.length}\r\n\r\n${accepted}`
    })
    await using network = testNetwork()
    expect(await network.text(server.origin)).toBe('gzip, deflate, br, zstd')
  })
})

const short = (bytes: Buffer) => bytes.subarray(0, -20)

describe('a body that is damaged is no success', () => {
  it.each([
    ['gzip, cut off', 'gzip', async () => short(await compress.gzip(TEXT))],
    ['gzip without its last four bytes', 'gzip', async () => (await compress.gzip(TEXT)).subarray(0, -4)],
    [
      'gzip with a wrong check sum',
      'gzip',
      async () => compress.gzip(TEXT).then((bytes) => bytes.fill(0, bytes.length - 8)),
    ],
    ['Brotli, cut off', 'br', async () => short(await compress.brotli(TEXT))],
    ['zstd, cut off', 'zstd', async () => short(await compress.zstd(TEXT))],
    ['deflate, cut off', 'deflate', async () => short(await compress.deflate(TEXT))],
    ['plain text labelled as gzip', 'gzip', () => Promise.resolve(Buffer.from(TEXT))],
    ['plain text labelled as Brotli', 'br', () => Promise.resolve(Buffer.from(TEXT))],
    ['plain text labelled as zstd', 'zstd', () => Promise.resolve(Buffer.from(TEXT))],
    ['plain text labelled as deflate', 'deflate', () => Promise.resolve(Buffer.from(TEXT))],
    ['gzip labelled as Brotli', 'br', () => compress.gzip(TEXT)],
    [
      'zstd with a window beyond 8 MiB',
      'zstd',
      () =>
        compress.zstd(Buffer.alloc(17 * MEBIBYTE), {
          params: { [constants.ZSTD_c_windowLog]: 24, [constants.ZSTD_c_contentSizeFlag]: 0 },
        }),
    ],
    ['an unknown coding', 'compress', () => Promise.resolve(Buffer.from(TEXT))],
    ['a coding named like a property of objects', 'constructor', () => Promise.resolve(Buffer.from(TEXT))],
    ['an unknown coding under a known one', 'foo, gzip', () => compress.gzip(TEXT)],
    ['too many codings', 'identity, identity, identity, gzip', () => compress.gzip(TEXT)],
  ])('%s', async (_, coding, body) => {
    await using server = await site(await body(), { 'content-encoding': coding })
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('bad_encoding')
  })
})

describe('an empty body', () => {
  it.each([200, 204, 205, 304, 404])('is one with status %i', async (status) => {
    await using server = await site('', {}, status)
    await using network = testNetwork()
    const { body, ...answer } = await network.get(server.origin)
    expect(answer).toMatchObject({ status, contentType: undefined })
    expect(body).toHaveLength(0)
  })

  it.each(['gzip', 'br', 'zstd', 'deflate', 'gzip, br'])(
    'is one, whatever it says of its coding: %s',
    async (coding) => {
      await using server = await site('', { 'content-encoding': coding })
      await using network = testNetwork()
      expect((await network.get(server.origin)).body).toHaveLength(0)
    },
  )
})

describe('a body at its limit', () => {
  it('passes, and not with a byte more, as sent', async () => {
    await using network = testNetwork({ bodyBytesMax: 1_000 })
    await using fits = await site('x'.repeat(1_000))
    await using exceeds = await site('x'.repeat(1_001))
    expect((await network.get(fits.origin)).body).toHaveLength(1_000)
    expect(await network.refusal(exceeds.origin)).toMatchObject({
      code: 'too_large',
      message: 'The answer is larger than 1000 bytes.',
    })
  })

  it('passes, and not with a byte more, as decoded', async () => {
    await using network = testNetwork({ bodyBytesMax: 1_000 })
    await using fits = await site(gzipSync('x'.repeat(1_000)), { 'content-encoding': 'gzip' })
    await using exceeds = await site(gzipSync('x'.repeat(1_001)), { 'content-encoding': 'gzip' })
    expect((await network.get(fits.origin)).body).toHaveLength(1_000)
    expect((await network.refusal(exceeds.origin)).code).toBe('too_large')
  })
})

describe('a body that is too large', () => {
  it.each(['', 'Content-Encoding: gzip\r\n'])('fails by its length, before it is read %j', async (coding) => {
    await using server = await rawAnswers(() => `HTTP/1.1 200 OK\r\n${coding}Content-Length: 209715200\r\n\r\n`)
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('too_large')
    await server.idle()
  })

  it('fails by its count, if it has no end', async () => {
    await using server = await rawServer((socket) => {
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
      const pump = () => {
        while (!socket.destroyed && socket.write(chunk));
      }
      socket
        .once('data', () => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', pump))
        .on('drain', pump)
    })
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('too_large')
    await server.idle()
  })

  it('takes no more memory when it comes in tiny chunks', async () => {
    const tiny = '1\r\nx\r\n'.repeat(4_096)
    await using server = await rawServer((socket) => {
      let left = 2 * MEBIBYTE
      const pump = () => {
        while (left > 0 && !socket.destroyed) {
          left -= 4_096
          if (!socket.write(tiny)) return
        }
        socket.write('0\r\n\r\n')
      }
      socket
        .once('data', () => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', pump))
        .on('drain', pump)
    })
    await using network = testNetwork()
    const before = process.resourceUsage().maxRSS
    expect((await network.get(server.origin)).body).toHaveLength(2 * MEBIBYTE)
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(100 * 1024)
  })

  it.each(['gzip', 'gzip, gzip'])('does not fill the memory when it inflates: %s', async (coding) => {
    const bomb = await zeros(200)
    await using server = await site(coding === 'gzip' ? bomb : gzipSync(bomb), { 'content-encoding': coding })
    await using network = testNetwork()
    await network.refusal(server.origin) // Whatever is loaded once is loaded now.
    const before = process.resourceUsage().maxRSS
    expect((await network.refusal(server.origin)).code).toBe('too_large')
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(100 * 1024)
  })
})

describe('the page that comes with a failure', () => {
  it('comes with its status', async () => {
    await using server = await site('<h1>Not here</h1>', { 'content-type': 'text/html' }, 404)
    await using network = testNetwork()
    const { body, ...answer } = await network.get(server.origin)
    expect(answer).toMatchObject({ url: `${server.origin}/`, status: 404, contentType: 'text/html', attempts: 1 })
    expect(Buffer.from(body).toString()).toBe('<h1>Not here</h1>')
  })

  it.each([
    ['damaged', 'text', { 'content-encoding': 'gzip' }],
    ['of an unknown coding', 'text', { 'content-encoding': 'foo' }],
    ['longer than a mebibyte', 'x'.repeat(MEBIBYTE + 1), {}],
  ])('does not hide its status when it is %s', async (_, body, headers) => {
    await using server = await site(body, headers, 503)
    await using network = testNetwork()
    expect(await network.get(server.origin)).toMatchObject({ status: 503, body: new Uint8Array() })
  })

  it('does not hide its status when it is cut off', async () => {
    await using server = await rawAnswers((_head, socket) => {
      setImmediate(() => socket.end())
      return 'HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nshort'
    })
    await using network = testNetwork()
    expect(await network.get(server.origin)).toMatchObject({ status: 500, body: new Uint8Array() })
  })
})

/** The given mebibytes of zeros as gzip, made without ever holding them. */
async function zeros(count: number): Promise<Buffer> {
  const stream = createGzip()
  const chunks = stream.toArray()
  for (let written = 0; written < count; written += 1) {
    await new Promise((resolve) => stream.write(Buffer.alloc(MEBIBYTE), resolve))
  }
  stream.end()
  return Buffer.concat((await chunks) as Buffer[])
}
