import { describe, expect, it } from 'vitest'

import { convert } from '../../../src/fetcher/convert/convert.ts'
import type { Mode } from '../../../src/jobs/schema.ts'

function run(html: string, mode: Mode = 'auto') {
  return convert({ body: Buffer.from(html), url: 'https://site.example/page', contentType: 'text/html', mode })
}
async function codeOf(html: string, mode: Mode = 'auto'): Promise<string> {
  const conversion = await run(html, mode)
  if ('failure' in conversion) return conversion.failure.code
  return conversion.warnings.length > 0 ? 'warning' : 'content'
}
const titled = (title: string, body: string) =>
  `<!doctype html><html><head><title>${title}</title></head><body>${body}</body></html>`
const words = (count: number) => `<p>${'Some plain words of a page. '.repeat(Math.ceil(count / 6))}</p>`
const SCRIPTS = '<script src="/a.js"></script><script>boot()</script><script type=module src="/b.js"></script>'
const MENU = `<nav>${'<a href="/x">One more entry</a> '.repeat(40)}</nav>`

describe('a page that only scripts fill needs JavaScript:', () => {
  it.each([
    ['an empty root and a notice', `<div id=root></div><noscript>You need to enable JavaScript.</noscript>${SCRIPTS}`],
    ['an empty root', `<div id="__next"></div>${SCRIPTS}`],
    ['a spinner', `<div id=app><div class="spinner">Loading, please wait a little while</div></div>${SCRIPTS}`],
    ['a word in an application element', `<app-root>Loading…</app-root>${SCRIPTS}`],
    ['a notice in the page', `<p>This site requires JavaScript to run.</p>${SCRIPTS}`],
    ['a notice in German', `<div></div><noscript>Bitte aktivieren Sie JavaScript.</noscript>${SCRIPTS}`],
    ['a notice in Japanese', `<noscript>JavaScriptを有効にしてください。</noscript>${SCRIPTS}`],
    ['nothing at all', `<div class="x"></div>${SCRIPTS}`],
    ['announced programs', '<link rel=modulepreload href="/app.js"><section id="d-splash"></section>'],
  ])('%s', async (_what, body) => {
    for (const mode of ['auto', 'full', 'text', 'html', 'article'] as const) {
      expect(await codeOf(titled('App', body), mode)).toBe('needs_javascript')
    }
  })

  it.each([
    ['a rendered application', `<div id=root>${words(200)}</div><noscript>Enable JavaScript.</noscript>${SCRIPTS}`],
    ['a small rendered application', `<div id=root><h1>Hello</h1>${words(40)}</div>${SCRIPTS}`],
    ['an article about it', `<h1>Why sites require JavaScript</h1>${words(300)}${SCRIPTS}`],
    ['a short page with a notice beside it', `${words(36)}<noscript>Enable JavaScript.</noscript>${SCRIPTS}`],
    ['few words without scripts', '<div id=app>Enable JavaScript</div>'],
  ])('but not %s', async (_what, body) => expect(await codeOf(titled('App', body))).toBe('content'))

  it('and is doubtful with few words among many scripts', async () => {
    expect(await codeOf(titled('Shop', `<h1>Robot mowers</h1>${MENU}${SCRIPTS}${SCRIPTS}`))).toBe('warning')
  })
})

describe('a check for robots is blocked_by_site:', () => {
  it.each([
    ['by its title', titled('Just a moment...', '<h1>x.example</h1><p>Enable cookies to continue.</p>')],
    ['by a part of its title', titled('Access denied | x.example', '<p>Reference 18.5f</p>')],
    ['by its heading', titled('x.example', '<h1>Verify you are human</h1>')],
    ['in German', titled('Nur einen Moment…', '<p>Wir prüfen Ihren Browser.</p>')],
    ['in Russian', titled('Доступ ограничен', '<p>Подтвердите, что вы не робот.</p>')],
    ['by its markup', titled('x.example', '<form id="challenge-form"></form><p>Checking the connection.</p>')],
    ['by its program', titled('', '<p>One second</p><script>window._cf_chl_opt={cType:"managed"}</script>')],
    ['by its script', titled('x.example', '<p>Hi</p><script src="https://ct.captcha-delivery.com/c.js"></script>')],
    ['by its frame', titled('', '<iframe src="/_Incapsula_Resource?CWUDNSAI=1">Request failed.</iframe>')],
    ['by a widget alone', titled('x.example', '<p>Please go on:</p><div class="h-captcha"></div>')],
  ])('%s', async (_what, html) => {
    for (const mode of ['auto', 'full', 'text'] as const) expect(await codeOf(html, mode)).toBe('blocked_by_site')
  })

  it.each([
    ['an article about checks', titled('Are you a robot?', `<h1>Are you a robot?</h1>${words(400)}`)],
    ['an article with a widget', titled('News', `${words(400)}<div class="g-recaptcha"></div>`)],
    [
      'a form to get in touch',
      titled(
        'Contact',
        `<h1>Contact</h1><p>Write to us.</p><form><input name=email><textarea></textarea><div class="g-recaptcha"></div></form>`,
      ),
    ],
    [
      'a page with a vendor on every page',
      titled('Shop', `${words(60)}<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`),
    ],
    ['a song of that name', titled('Hold On - Songs', `<h1>Hold On</h1>${words(40)}`)],
    ['a film of that name', titled('Forbidden | Films', `<h1>Forbidden</h1>${words(50)}`)],
    ['a title that only contains the words', titled('Just a moment in time: a memoir', words(80))],
  ])('but not %s', async (_what, html) => expect(await codeOf(html)).toBe('content'))
})

describe('a short page with the title of a check is doubtful, and a success:', () => {
  const film = '<p>A drama of 1932 by Frank Capra, in which a librarian falls in love on a cruise.</p>'
  const lyrics = '<p>Please wait for me, by the river, in the rain.</p>'
  const app = `<div id=root>${words(36)}</div><noscript>You need to enable JavaScript.</noscript>${SCRIPTS}`

  it.each([
    ['a film', titled('Forbidden', `<h1>Forbidden</h1>${film}`)],
    ['a film among menus', titled('Forbidden', `${MENU}<h1>Forbidden</h1><p>A drama of 1932.</p>`)],
    ['a film with a refusal for its name', titled('Access denied | Films', `<h1>Access denied</h1>${film}`)],
    ['a film on a page with its own scripts', titled('Forbidden', `<h1>Forbidden</h1>${app}`)],
    [
      'a film on a page that is wrapped in a form',
      titled('Forbidden', `<form>${MENU}<h1>Forbidden</h1>${film}</form>`),
    ],
    ['a song', titled('Please Wait', `<h1>Please Wait</h1>${lyrics}`)],
    ['a page that a ticker loads anew', titled('Please Wait', `<meta http-equiv=refresh content=600>${lyrics}`)],
    [
      'an entry of a glossary',
      titled('CAPTCHA | Glossary', '<h1>CAPTCHA</h1><p>A test that tells people and robots apart.</p>'),
    ],
    [
      'a page that shows how to reach someone behind a widget',
      titled('Contact', '<h1>Contact</h1><p>info@site.example</p><div class="g-recaptcha"></div>'),
    ],
    ['a poll behind a widget', titled('Poll', `<h1>Tea or coffee?</h1>${words(30)}<div class="h-captcha"></div>`)],
  ])('%s', async (_what, html) => {
    expect(await codeOf(html)).toBe('warning')
    expect(await run(html)).toMatchObject({ warnings: [expect.stringContaining('may be a check for robots')] })
  })

  it.each([
    [
      'by a number to look it up',
      '<p>You have no permission to see this on this server. Reference #18.5f1c2a17.1700</p>',
    ],
    [
      'by what loads it again',
      '<meta http-equiv="Refresh" content="5"><p>We will show you the page in five seconds.</p>',
    ],
    ['by what it asks for', '<p>This takes some seconds.</p><noscript>Enable JavaScript to continue.</noscript>'],
    [
      'by a form that is the page',
      '<form><p>To go on to the page, click on this button here:</p><button>Go</button></form>',
    ],
    ['by a widget', '<p>Let us know that it is you who comes here.</p><div class="cf-turnstile"></div>'],
  ])('but not %s', async (_what, body) => {
    for (const title of ['Please wait', 'Access denied', 'Just a moment...']) {
      expect(await codeOf(titled(title, `<h1>${title}</h1>${body}`))).toBe('blocked_by_site')
    }
  })

  it.each([
    [
      'a form of that name',
      `<h1>Enter the challenge</h1><form id="challenge-form"><input name=team></form>${words(20)}`,
    ],
    ['protection on every page', `<script src="https://a.eu.sdk.awswaf.com/a/b/challenge.js"></script>${words(40)}`],
  ])('nor is there a doubt by %s', async (_what, body) => expect(await codeOf(titled('Shop', body))).toBe('content'))
})

describe('a login instead of the page is blocked_by_site:', () => {
  const form = '<form action="/login"><input name=user><input type=password><button>Go</button></form>'

  it.each(['Log in', 'Sign in to Example', 'Anmelden', 'Connexion', 'Iniciar sesión | Example', 'ログイン', 'Вход'])(
    '%s',
    async (title) => expect(await codeOf(titled(title, `<h1>${title}</h1>${form}`))).toBe('blocked_by_site'),
  )

  it.each([
    ['a page with a login box', titled('Weather', `<h1>Weather</h1>${words(200)}${form}`)],
    ['an article about logging in', titled('Log in safely', `<h1>Log in safely</h1>${words(200)}${form}`)],
    ['a short page with a login box', titled('Weather', `<h1>Weather</h1><p>Rain.</p>${form}`)],
  ])('but not %s', async (_what, html) => expect(await codeOf(html)).toBe('content'))
})

describe('a page that says it does not exist is a soft_404:', () => {
  it.each([
    '404',
    'Error 404',
    '404 - Page not found',
    'Page not found | Example',
    'Example – Page Not Found',
    'Oops! That page can’t be found.',
    'Sorry, the page you are looking for does not exist',
    "We can't find that page",
    'This page is no longer available',
    'Seite nicht gefunden',
    'Page introuvable',
    'Página no encontrada',
    'Página não encontrada',
    'Pagina non trovata',
    'Pagina niet gevonden',
    'Страница не найдена',
    'Nie znaleziono strony',
    'Stránka nenalezena',
    'Sidan kunde inte hittas',
    'ページが見つかりません',
    '页面不存在',
    '페이지를 찾을 수 없습니다',
  ])('%s', async (title) => {
    const body = `${MENU}<h1>${title}</h1><p>Try the search instead.</p><footer>${words(60)}</footer>`
    expect(await codeOf(titled(title, body))).toBe('soft_404')
    expect(await codeOf(titled('Example', body))).toBe('soft_404')
  })

  it.each([
    ['an article about it', titled('404 Not Found: a history', `<h1>404 Not Found</h1>${words(300)}`)],
    ['a short page on another thing', titled('Peugeot 404', '<h1>Peugeot 404</h1><p>A family car.</p>')],
    ['a short page with the number', titled('Room 404', '<p>Second floor.</p>')],
    ['a thing that was found', titled('Lost page found', '<p>In a library.</p>')],
    ['a product that is gone', titled('Red kettle', '<h1>Red kettle</h1><p>No longer available.</p>')],
  ])('but not %s', async (_what, html) => expect(await codeOf(html)).toBe('content'))

  it.each([
    ['a number', titled('404', '<h1>404</h1><p>The even number between 403 and 405, and a natural one.</p>')],
    ['an area code', titled('404 | Area codes', '<h1>404</h1><p>Serves the city of Atlanta, Georgia.</p>')],
    ['a film', titled('Not Found', '<h1>Not Found</h1><p>A comedy of 2011 about a man and his dog.</p>')],
    [
      'a title that no heading repeats',
      titled('Page not found', '<h1>Songs</h1><p>The third of the album of 2009.</p>'),
    ],
  ])('and is doubtful if it may be %s', async (_what, html) => expect(await codeOf(html)).toBe('warning'))

  it.each([
    ['404', '<h1>404</h1><p>Oops. The page you are looking for does not exist. It may have moved.</p>'],
    ['Not found', '<h1>Not found</h1><p>The requested URL was not found on this server. Check it.</p>'],
    ['Page not found', '<h1>Oops</h1><p>Sorry, this page <b>could not be found</b>. Here is our search.</p>'],
  ])('by a sentence of its own: %s', async (title, body) => {
    expect(await codeOf(titled(title, body))).toBe('soft_404')
  })

  it('and is doubtful with more text', async () => {
    expect(await codeOf(titled('Page not found', `<h1>Page not found</h1>${words(100)}`))).toBe('warning')
  })
})

it('a text that must be paid for is doubtful', async () => {
  const data = '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":"False"}</script>'
  expect(await codeOf(titled('News', `${data}<h1>News</h1>${words(80)}`))).toBe('warning')
  expect(await codeOf(titled('News', `${data.replace('"False"', 'true')}<h1>News</h1>${words(80)}`))).toBe('content')
})

it('a page of menus only is empty, and says so', async () => {
  expect(await run(titled('Shop', `<body>${MENU}<main></main>`), 'article')).toMatchObject({
    failure: { code: 'no_article' },
  })
})

it('modes that need no content never fail for the want of it', async () => {
  const shell = titled('App', `<div id=root></div>${SCRIPTS}`)
  const gone = titled('Page not found', '<h1>Page not found</h1>')
  for (const html of [shell, gone]) {
    expect(await codeOf(html, 'links')).toBe('warning')
    expect(await codeOf(html, 'metadata')).toBe('warning')
    expect(await codeOf(html, 'raw')).toBe('content')
  }
})
