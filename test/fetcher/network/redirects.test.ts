import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { describe, expect, it } from 'vitest'

import { rawAnswers, serve } from '../../helpers/raw-server.ts'
import { testNetwork } from '../../helpers/test-network.ts'

/** A site whose path `/to?…` redirects to the rest of the URL, and which answers everything else with its path. */
function site(answer?: (request: IncomingMessage, response: ServerResponse) => boolean, host?: string) {
  const server = createServer((request, response) => {
    if (answer?.(request, response)) return
    const url = request.url ?? ''
    if (url.startsWith('/to?')) response.writeHead(302, { location: decodeURIComponent(url.slice(4)) }).end()
    else response.end(url)
  })
  return serve(server, host === undefined ? {} : { host })
}

const to = (location: string) => `/to?${encodeURIComponent(location)}`

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with status %i is followed', async (status) => {
    await using server = await site((request, response) => {
      if (request.url !== '/start') return false
      response.writeHead(status, { location: '/end' }).end()
      return true
    })
    await using network = testNetwork()
    const { url, status: last } = await network.get(`${server.origin}/start`)
    expect({ url, last }).toEqual({ url: `${server.origin}/end`, last: 200 })
  })

  it.each([
    ['an absolute path', '/c', '/c'],
    ['a relative path', 'c?d=1', '/a/c?d=1'],
    ['only a query', '?y=2', '/a/b?y=2'],
    ['a path that climbs too far', '../../../c', '/c'],
    ['white space around it', '  /c  ', '/c'],
  ])('takes %s', async (_, location, path) => {
    await using server = await site((request, response) => {
      if (request.url !== '/a/b') return false
      response.writeHead(302, { location }).end()
      return true
    })
    await using network = testNetwork()
    expect(await network.text(`${server.origin}/a/b`)).toBe(path)
  })

  it('may leave the scheme out', async () => {
    await using server = await site()
    await using other = await site(undefined, '127.0.0.3')
    await using network = testNetwork()
    expect((await network.get(server.origin + to(`//127.0.0.3:${other.port}/x`))).url).toBe(`${other.origin}/x`)
  })

  it.each([
    ['raw UTF-8', '/안녕?q=ä', '/%EC%95%88%EB%85%95?q=%C3%A4', 'utf8'],
    ['raw Latin-1', '/caf\u00e9', '/caf%C3%A9', 'latin1'],
    ['what is encoded already', '/%EC%95%88?q=%2F+%zz', '/%EC%95%88?q=%2F+%zz', 'latin1'],
  ] as const)('takes %s', async (_, location, path, encoding) => {
    await using server = await rawAnswers((head) => {
      const [, requested = ''] = head.split(' ')
      return requested === '/'
        ? Buffer.from(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`, encoding)
        : `HTTP/1.1 200 OK\r\nContent-Length: ${requested.length}\r\n\r\n${requested}`
    })
    await using network = testNetwork()
    expect(await network.text(server.origin)).toBe(path)
  })

  it('inherits the fragment, which is never sent', async () => {
    await using server = await site()
    await using network = testNetwork()
    const start = `${server.origin}${to('/end')}`
    expect((await network.get(`${start}#part`)).url).toBe(`${server.origin}/end#part`)
    expect(await network.text(`${start}#part`)).toBe('/end')
    expect((await network.get(`${server.origin}${to('/end#own')}#part`)).url).toBe(`${server.origin}/end#own`)
  })

  it('sends neither where it comes from nor credentials', async () => {
    let headers: IncomingMessage['headers'] = {}
    await using server = await site((request) => {
      headers = request.headers
      return false
    })
    await using network = testNetwork()
    await network.get(server.origin + to('/end'))
    expect(Object.keys(headers).toSorted()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
  })

  it('uses the same connection again', async () => {
    await using server = await site()
    await using network = testNetwork()
    await network.get(server.origin + to('/end'))
    expect(server.connections).toBe(1)
  })
})

describe('a redirect is refused', () => {
  it.each([
    ['http://127.0.0.1:PORT/', 'blocked_address'],
    ['//127.0.0.1:PORT/', 'blocked_address'],
    ['http://2130706433:PORT/', 'blocked_address'],
    ['http://[::ffff:7f00:1]:PORT/', 'blocked_address'],
    ['http://[::1]:PORT/', 'blocked_address'],
    ['http://0:PORT/', 'blocked_address'],
    ['http://inside.example:PORT/', 'blocked_address'],
    ['http://localhost:PORT/', 'blocked_address'],
    ['http://wiki.internal:PORT/', 'blocked_address'],
    ['http://169.254.169.254/latest/meta-data/', 'blocked_address'],
    ['http://metadata.google.internal/', 'blocked_address'],
    ['http://127.0.0.2:22/', 'blocked_port'],
    ['file:///etc/passwd', 'bad_redirect'],
    ['gopher://127.0.0.1:PORT/_x', 'bad_redirect'],
    ['data:text/html,hi', 'bad_redirect'],
    ['http://user:secret@127.0.0.2:PORT/', 'bad_redirect'],
    ['http://[bad/', 'bad_redirect'],
    ['http://127.0.0.2\\@127.0.0.1:PORT/', 'bad_redirect'],
    ['http:///127.0.0.1:PORT/', 'bad_redirect'],
  ])('to %s: %s', async (location, code) => {
    await using denied = await site(undefined, '127.0.0.1')
    await using server = await site()
    const inside = ['127.0.0.1']
    const zone = { 'inside.example': inside, localhost: inside, 'wiki.internal': inside }
    await using network = testNetwork({ zone })
    const refusal = await network.refusal(server.origin + to(location.replace('PORT', String(denied.port))))
    expect(refusal.code).toBe(code)
    expect(refusal.message).not.toMatch(/secret|127\.0\.0\.1/)
    expect(server.connections).toBe(1)
    expect(denied.connections).toBe(0)
  })

  it('without a Location', async () => {
    await using server = await site(
      (_request, response) => response.writeHead(302).end('Somewhere else.') !== undefined,
    )
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('bad_redirect')
  })
})

it.each([300, 304, 305])('a status of %i is an answer, not a redirect', async (status) => {
  await using server = await site(
    (_request, response) => response.writeHead(status, { location: '/end' }).end() !== undefined,
  )
  await using network = testNetwork()
  expect(await network.get(server.origin)).toMatchObject({ status, url: `${server.origin}/` })
})

describe('a circle', () => {
  it.each([
    ['of one', ['/a']],
    ['of two', ['/b', '/a']],
    ['that only sets a fragment', ['#top']],
  ])('%s ends as one', async (_, locations) => {
    let hits = 0
    await using server = await site((_request, response) => {
      response.writeHead(302, { location: locations[hits % locations.length] }).end()
      hits += 1
      return true
    })
    await using network = testNetwork()
    expect((await network.refusal(`${server.origin}/a`)).code).toBe('redirect_loop')
    expect(hits).toBe(locations.length)
  })

  it('ends where the cookie is kept', async () => {
    let hits = 0
    await using server = await site((request, response) => {
      hits += 1
      if (request.headers.cookie === 'seen=1; b=2') response.end('inside')
      else response.writeHead(302, { location: '/wall', 'set-cookie': ['seen=1; Path=/', 'b=2'] }).end()
      return true
    })
    await using network = testNetwork()
    expect(await network.text(`${server.origin}/wall`)).toBe('inside')
    expect(hits).toBe(2)
  })

  it('that gives a new cookie every time ends at the limit', async () => {
    let hits = 0
    await using server = await site((_request, response) => {
      hits += 1
      response.writeHead(302, { location: '/', 'set-cookie': `n=${hits}` }).end()
      return true
    })
    await using network = testNetwork()
    expect((await network.refusal(server.origin)).code).toBe('too_many_redirects')
    expect(hits).toBe(11)
  })
})

it('follows ten redirects, and not eleven', async () => {
  await using server = await site((request, response) => {
    const left = Number(request.url?.slice(1))
    if (left > 0) response.writeHead(301, { location: `/${left - 1}` })
    response.end('end')
    return true
  })
  await using network = testNetwork()
  expect(await network.text(`${server.origin}/10`)).toBe('end')
  expect(await network.refusal(`${server.origin}/11`)).toMatchObject({
    code: 'too_many_redirects',
    message: 'The server redirects more than 10 times.',
  })
})

/** Answers with the cookies it got; `/set` sets some and redirects to `location`. */
const setter = (location: () => string) =>
  site((request, response) => {
    const cookies = [
      'plain=1; Path=/',
      'safe=1; Path=/; Secure',
      'wide=1; Domain=example',
      'bad',
      '=',
      'other=1; Domain=b.example',
    ]
    if (request.url === '/set') response.writeHead(302, { location: location(), 'set-cookie': cookies }).end()
    else response.end(request.headers.cookie ?? 'none')
    return true
  })

describe('cookies', () => {
  it('stay with their host, and off connections that are not secure', async () => {
    let location = '/show'
    await using server = await setter(() => location)
    await using network = testNetwork({ zone: { 'a.example': ['127.0.0.2'], 'b.example': ['127.0.0.2'] } })
    expect(await network.text(`http://a.example:${server.port}/set`)).toMatch(/^plain=1(; bad)?$/)
    location = `http://b.example:${server.port}/show`
    expect(await network.text(`http://a.example:${server.port}/set`)).toBe('none')
  })

  it('are forgotten with their target', async () => {
    await using server = await setter(() => '/show')
    await using network = testNetwork()
    expect(await network.text(`${server.origin}/set`)).toContain('plain=1')
    expect(await network.text(`${server.origin}/show`)).toBe('none')
  })
})
