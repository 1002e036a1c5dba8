import fc from 'fast-check'
import robotsParser from 'robots-parser'
import { describe, expect, it } from 'vitest'

import { isAllowed, parseRules, productToken } from '../../../src/fetcher/robots/rules.ts'

/** Another reading of the same RFC. Its types have the function as a member of what it is itself. */
const readOtherwise = robotsParser as unknown as typeof robotsParser.default

const { signal } = new AbortController()
const KIB = 1024

/** Whether a program may fetch a path by this file. A file given as text is sent in UTF-8. */
async function allows(file: string | Uint8Array, path: string, token = 'pagehaul'): Promise<boolean> {
  const rules = await parseRules(Buffer.from(file), token, signal)
  return isAllowed(rules, new URL(path, 'https://site.example'), signal)
}

/** The paths of these that a program may not fetch. */
async function denied(file: string | Uint8Array, paths: readonly string[], token?: string): Promise<string[]> {
  const verdicts = await Promise.all(paths.map((path) => allows(file, path, token)))
  return paths.filter((_path, index) => !verdicts[index])
}

const forAll = (...lines: readonly string[]) => ['User-agent: *', ...lines, ''].join('\n')

describe('the examples of RFC 9309:', () => {
  const GROUPS = `
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`
  const PATHS = [
    '/',
    '/a.gif',
    '/a.gif?b',
    '/example/',
    '/example/page.html',
    '/example/allowed.gif',
    '/publications/a',
  ]

  it.each([
    ['otherbot', ['/a.gif', '/example/', '/example/page.html', '/example/allowed.gif']],
    ['foobot', ['/', '/a.gif', '/a.gif?b', '/example/', '/publications/a']],
    ['barbot', ['/example/page.html']],
    ['bazbot', ['/example/page.html']],
    ['quxbot', []],
  ])('§5.1, groups: %s', async (token, expected) => {
    expect(await denied(GROUPS, PATHS, token)).toEqual(expected)
  })

  it('§5.2, the longest match', async () => {
    const file = 'User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n'
    const paths = ['/example/page/', '/example/page/disallowed.gif', '/example/page/other.gif']
    expect(await denied(file, paths, 'foobot')).toEqual(['/example/page/disallowed.gif'])
  })

  it.each([
    ['/foo/bar?baz=quz', '/foo/bar?baz=quz'],
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
    ['/foo/bar/ツ', '/foo/bar/%E3%83%84'],
    ['/foo/bar/%E3%83%84', '/foo/bar/%E3%83%84'],
    ['/foo/bar/%62%61%7A', '/foo/bar/baz'],
  ])('§2.2.2, encoding: %s is %s', async (one, other) => {
    for (const [rule, path] of [
      [one, other],
      [other, one],
      [one, one],
    ] as const) {
      expect(await allows(forAll(`Disallow: ${rule}$`), path)).toBe(false)
    }
  })

  it.each([
    ['/path/file-with-a-%2A.html', '/path/file-with-a-*.html', '/path/file-with-a-star.html'],
    ['/path/foo-%24', '/path/foo-$', '/path/foo-'],
    ['/this/path/exactly$', '/this/path/exactly', '/this/path/exactly/'],
    ['/this/*/exactly', '/this/or/that/exactly', '/this/exactly'],
    ['/page # comment in line', '/page', '/pag'],
  ])('§2.2.3, special characters: %s is for %s and not for %s', async (rule, path, other) => {
    expect(await denied(forAll(`Disallow: ${rule}`), [path, other])).toEqual([path])
  })

  it('§2.2.4, other records change nothing', async () => {
    const file =
      'User-agent: pagehaul\nSitemap: https://site.example/map.xml\nUser-agent: b\nCrawl-delay: 5\nDisallow: /a'
    expect(await denied(file, ['/a', '/b'])).toEqual(['/a'])
    expect(await denied(file, ['/a', '/b'], 'b')).toEqual(['/a'])
  })
})

describe('a group', () => {
  it('is joined with the others of the same name, whatever its case and version', async () => {
    const file =
      'User-agent: PageHaul\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\nuser-AGENT : pagehaul/9.9\nDISALLOW : /b\n'
    expect(await denied(file, ['/a', '/b', '/c'])).toEqual(['/a', '/b'])
    expect(await denied(file, ['/a', '/b', '/c'], 'other')).toEqual(['/a', '/b', '/c'])
  })

  it('for * does not count beside one of the name, not even one without rules', async () => {
    expect(await allows('User-agent: *\nDisallow: /\n\nUser-agent: pagehaul\nDisallow:\n', '/a')).toBe(true)
    expect(await allows('User-agent: *\nDisallow: /\n\nUser-agent: pagehaul-images\nDisallow: /\n', '/a')).toBe(false)
  })

  it('has a name: rules before the first are nobody’s', async () => {
    expect(await allows('Disallow: /\nUser-agent: other\nDisallow: /\n', '/a')).toBe(true)
  })

  it.each([
    ['pagehaul/0.2.0', 'pagehaul'],
    [' MyBot_x-1 (+https://bot.example)', 'mybot_x-1'],
    ['Mozilla/5.0 (compatible; Bot/1.0)', 'mozilla'],
    ['', ''],
  ])('knows the user agent %j as %j', (userAgent, token) => {
    expect(productToken(userAgent)).toBe(token)
  })
})

describe('a rule', () => {
  it('that allows counts before one of the same length that does not', async () => {
    expect(await denied(forAll('Disallow: /a', 'Allow: /a', 'Allow: /b', 'Disallow: /b'), ['/a', '/b'])).toEqual([])
    expect(await denied(forAll('Allow: /folder/page', 'Disallow: /*.htm'), ['/folder/page', '/x.htm'])).toEqual([
      '/x.htm',
    ])
  })

  it.each([
    ['/fish', ['/fish', '/fish.html', '/fish/salmon', '/fishheads'], ['/Fish.asp', '/catfish', '/?id=fish']],
    ['/fish*', ['/fish', '/fishheads/yummy.html'], ['/Fish.asp', '/catfish']],
    ['/fish/', ['/fish/', '/fish/?id=1'], ['/fish', '/fish.html', '/animals/fish/']],
    ['/*.php', ['/index.php', '/folder/a.php?x', '/a.php/'], ['/', '/windows.PHP']],
    ['/*.php$', ['/a.php', '/folder/a.php', '/a.php.php'], ['/a.php?x', '/a.php/', '/a.php5']],
    ['/fish*.php', ['/fish.php', '/fishheads/catfish.php?x'], ['/Fish.PHP', '/fish']],
    ['/ab*b*c', ['/abbc', '/ab-b-c'], ['/abc']],
    ['/a*b*b$', ['/abb', '/a-b-b', '/ab-b'], ['/ab', '/abbc']],
    ['/$', ['/'], ['/a', '/?a']],
    ['/*?', ['/a?b', '/?b'], ['/a']],
    ['***', ['/', '/a'], []],
    ['page', [], ['/page', '/a/page']],
  ])('%s is for %j and not for %j', async (rule, paths, others) => {
    expect(await denied(forAll(`Disallow: ${rule}`), [...paths, ...others])).toEqual(paths)
  })

  it.each([
    ['/caf\u{E9}', 'latin1', '/caf%E9'],
    ['/voilà', 'utf8', '/voil%C3%A0'],
    ['/a%c3%a0', 'utf8', '/a%C3%A0'],
    ['/my folder/', 'utf8', '/my%20folder/x'],
    ['/a{b}|^`"<>', 'utf8', '/a{b}|^`"<>'],
    ["/~a(b)'!", 'utf8', '/%7ea%28b%29%27%21'],
    ['/100%', 'utf8', '/100%'],
  ] as const)('%s in %s is for %s', async (rule, encoding, path) => {
    expect(await allows(Buffer.from(forAll(`Disallow: ${rule}`), encoding), path)).toBe(false)
  })

  it.each([
    ['/*filter%5B', ['/go?filter%5Bx%5D=1', '/go?filter[x]=1', '/filter%5Bx'], ['/filter[x', '/go?filter']],
    ['/*filter[', ['/go?filter%5Bx%5D=1', '/go?filter[x]=1', '/filter[x'], ['/filter%5Bx']],
    ['/*u=http%3A%2F%2F', ['/go?u=http%3A%2F%2Fx', '/go?u=http://x', '/u=http%3A%2F%2Fx'], ['/u=http://x']],
    ['/*u=http:%2F%2F', ['/go?u=http%3A%2F%2Fx', '/go?u=http://x', '/u=http:%2F%2Fx'], ['/u=http://x']],
    ['/*%40*%40', ['/go?a=%40&b=@', '/%40/%40', '/%40?@'], ['/go?a=%40', '/@/@', '/@?@']],
    ['/*%40$', ['/go?a=b%40', '/go?a=b@', '/b%40'], ['/go?a=b@c', '/b@', '/b']],
    ['/a%3Ab*%3A', ['/a%3Ab?c:', '/a%3Ab?c%3A', '/a%3Ab/%3A'], ['/a:b?c:', '/a%3Ab/:']],
    ['/*%3Fx', ['/a%3Fx', '/a?b?x', '/a?b%3Fx'], ['/a?x']],
    ['/*/%40*?*%40', ['/a/%40?%40', '/a?/@?@'], ['/a/@?%40', '/a/%40?a']],
    ['/*%2C', ['/a%2C', '/?a=%2C'], ['/a,', '/?a=,']],
  ])('%s, with an escape that means another thing in a path, is for %j and not for %j', async (rule, paths, others) => {
    expect(await denied(forAll(`Disallow: ${rule}`), [...paths, ...others])).toEqual(paths)
  })

  it('keeps its last byte, even one that is a space in another encoding', async () => {
    expect(await denied(forAll('Disallow: /voilà'), ['/voilà', '/voilé'])).toEqual(['/voilà'])
  })

  it('keeps what is a delimiter apart from what is data', async () => {
    expect(await denied(forAll('Disallow: /a%2Fb', 'Disallow: /c?d=e%26f'), ['/a/b', '/c?d=e&f'])).toEqual([])
  })
})

describe('a file', () => {
  it.each(['\n', '\r\n', '\r', '\n\n\r'])('may end its lines with %j', async (end) => {
    const file = ['\u{FEFF}User-agent: *', 'Disallow: /a', '\tDisallow\t:\t/b # no'].join(end)
    expect(await denied(file, ['/a', '/b', '/c'])).toEqual(['/a', '/b'])
  })

  it.each([
    ['a page', '<!doctype html><html><body><p>User-agent: *</p>\n<a href="/">Disallow: /</a></body></html>'],
    ['nothing', ''],
    ['white space', ' \n\t\n\u{FEFF}'],
    ['lines without a colon', 'User-agent *\nDisallow /\n'],
    ['bytes', Uint8Array.from({ length: 4096 }, (_value, index) => (index * 7919) % 251)],
  ])('that is %s has no rules', async (_name, file) => {
    expect(await allows(file, '/a')).toBe(true)
  })

  it('keeps what is around a broken line', async () => {
    expect(
      await denied(forAll('Disallow: /a', 'Disallow /b', ':', '\u{0}\u{FFFD}: \u{7}', 'Disallow: /c'), [
        '/a',
        '/b',
        '/c',
      ]),
    ).toEqual(['/a', '/c'])
  })

  it('is read for 500 KiB, without the line that is cut there', async () => {
    const start = forAll('Disallow: /first')
    const last = 'Disallow: /last\n'
    const fill = '#'.repeat(500 * KIB - start.length - last.length - 1)
    expect(await denied(`${start}${fill}\n${last}Disallow: /a`, ['/first', '/last', '/a'])).toEqual(['/first', '/last'])
    expect(await denied(`${start}${fill}\nx${last}`, ['/first', '/', '/last'])).toEqual(['/first'])
  })

  it.each([
    ['many wildcards', 'User-agent: *\n', `Disallow: /${'*a'.repeat(20)}*b\n`],
    ['one long rule', 'User-agent: *\nDisallow: /', '*a'],
    ['many short rules', 'User-agent: *\n', 'Allow:/\n'],
    ['many names', '', 'User-agent: pagehaul\nAllow:/b\n'],
    ['names, then rules', 'User-agent: pagehaul\n'.repeat(10_000), 'Allow:/b\n'],
    ['many lines of nothing', '', ':\n'],
    ['white space', 'Allow:', ' \t'],
    ['escapes', 'User-agent: *\n', `Allow: /${'%61'.repeat(100)}\n`],
  ])('of 500 KiB of %s is read and compared', async (_name, start, filling) => {
    expect(await allows(filled(start, filling), LONG_PATH)).toBe(true)
  })

  it('of 500 KiB leaves others their turns, while it is read and while it is compared', async () => {
    const body = Buffer.from(filled('User-agent: *\n', 'Allow: /*a*a*a*b\n'))
    const reading = countTurns()
    const rules = await parseRules(body, 'pagehaul', signal)
    expect(reading.end()).toBeGreaterThan(1)
    const comparing = countTurns()
    await isAllowed(rules, new URL(LONG_PATH, 'https://site.example'), signal)
    expect(comparing.end()).toBeGreaterThan(1)
  })

  it('is put aside when the signal aborts', async () => {
    const body = Buffer.from(filled('User-agent: *\n', 'Allow: /a\n'))
    const cancel = new AbortController()
    const reading = parseRules(body, 'pagehaul', cancel.signal)
    cancel.abort(new Error('The target was cancelled.'))
    await expect(reading).rejects.toThrow('The target was cancelled.')
  })
})

const LONG_PATH = `/${'a'.repeat(8_000)}`

/** A file of 500 KiB. */
const filled = (start: string, filling: string) =>
  start + filling.repeat(Math.ceil((500 * KIB - start.length) / filling.length))

/** Counts the turns of the event loop. */
function countTurns() {
  let turns = 0
  let next = setImmediate(count)
  function count() {
    turns += 1
    next = setImmediate(count)
  }
  return {
    end() {
      clearImmediate(next)
      return turns
    },
  }
}

it('gives the verdict of robots-parser on files that have nothing special', async () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', '/', '*', '?', '=', '.'), { maxLength: 8 })
    .map((all) => `/${all.join('')}`)
  const rule = fc.tuple(fc.constantFrom('Allow', 'Disallow'), path, fc.constantFrom('', '$'))
  const group = fc.tuple(
    fc.subarray(['*', 'pagehaul', 'other'], { minLength: 1 }),
    fc.array(rule, { minLength: 1, maxLength: 6 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(group, { maxLength: 4 }), path, async (groups, asked) => {
      const lines = groups.flatMap(([names, rules]) => [
        ...names.map((name) => `User-agent: ${name}`),
        ...rules.map(([name, pattern, end]) => `${name}: ${pattern}${end}`),
      ])
      const file = lines.join('\n')
      const url = `https://site.example${asked.replaceAll('*', 'c')}`
      expect(await allows(file, url)).toBe(
        readOtherwise('https://site.example/robots.txt', file).isAllowed(url, 'pagehaul'),
      )
    }),
    { numRuns: 500 },
  )
})
