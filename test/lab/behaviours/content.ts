import { readFileSync } from 'node:fs'

import type { TargetOptions } from '../../../src/jobs/schema.ts'
import { pdfPages, scannedPdf } from '../../helpers/pdf-files.ts'
import { always, message, page } from '../answers.ts'
import type { Behaviour, Expected } from '../behaviour.ts'

const html = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`
const pdf = (name: string) => readFileSync(new URL(`../../fixtures/pdfs/${name}.pdf`, import.meta.url))
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')
const SCRIPTS = '<script src="/a.js"></script><script src="/b.js"></script><script src="/c.js"></script>'
const PROSE = 'The harbour town is known for its market, where fish and bread are sold from early in the morning. '

interface Served {
  readonly name: string
  readonly does: string
  readonly type: string
  readonly body: string | Uint8Array | (() => string | Uint8Array)
  readonly expected: Omit<Expected, 'requests'>
  readonly options?: TargetOptions
}

const served = ({ type, body, expected, ...rest }: Served): Behaviour => ({
  ...rest,
  answer: page(type, body),
  expected: { ...expected, requests: 1 },
})

/** Pages that come with success, and what they are worth. */
export const CONTENT: readonly Behaviour[] = [
  ...(
    [
      {
        name: 'article',
        does: 'Sends an article.',
        type: 'text/html',
        body: html('Market', `<main><h1>Market</h1><p>${PROSE.repeat(5)}</p></main>`),
        expected: { outcome: 'done', content: /^# Market\n\nThe harbour town/ },
      },
      {
        name: 'meta-refresh',
        does: 'Sends a page that asks browsers to go to another one, which is not followed.',
        type: 'text/html',
        body: html(
          'Moved',
          '<meta http-equiv="refresh" content="0; url=/new"><p>This page has moved to a new place.</p>',
        ),
        expected: { outcome: 'done', content: /moved to a new place/ },
      },
      {
        name: 'script-shell',
        does: 'Sends a page that has no text until its scripts have run.',
        type: 'text/html',
        body: html('App', `<div id="root"></div><noscript>You need to enable JavaScript.</noscript>${SCRIPTS}`),
        expected: { outcome: 'needs_javascript' },
      },
      {
        name: 'robot-check',
        does: 'Sends a check for robots instead of the page.',
        type: 'text/html',
        body: html('Just a moment...', '<form id="challenge-form"></form><p>Checking the connection.</p>'),
        expected: { outcome: 'blocked_by_site' },
      },
      {
        name: 'login-page',
        does: 'Sends a login instead of the page.',
        type: 'text/html',
        body: html(
          'Log in',
          '<h1>Log in</h1><form action="/login"><input name=user><input type=password><button>Go</button></form>',
        ),
        expected: { outcome: 'blocked_by_site' },
      },
      {
        name: 'soft-404',
        does: 'Answers 200 with a page that says it does not exist.',
        type: 'text/html',
        body: html('Page not found', '<h1>Page not found</h1><p>Sorry, there is no such page.</p>'),
        expected: { outcome: 'soft_404' },
      },
      {
        name: 'page-without-text',
        does: 'Sends a page without any text.',
        type: 'text/html',
        body: html('', ''),
        expected: { outcome: 'empty' },
      },
      {
        name: 'blanks',
        does: 'Sends blanks.',
        type: 'text/plain',
        body: ' \n\t\n ',
        expected: { outcome: 'empty' },
      },
      {
        name: 'no-main-text',
        does: 'Sends a page of links, of which the main text is asked for.',
        type: 'text/html',
        body: html(
          'Shop',
          '<nav><ul><li><a href="/a">One</a></li><li><a href="/b">Two</a></li></ul></nav><main></main>',
        ),
        options: { mode: 'article' },
        expected: { outcome: 'no_article' },
      },
      {
        name: 'picture',
        does: 'Sends a picture.',
        type: 'image/png',
        body: PNG,
        expected: { outcome: 'unsupported_type' },
      },
      {
        name: 'picture-as-page',
        does: 'Sends a picture, and says that it is HTML.',
        type: 'text/html',
        body: PNG,
        expected: { outcome: 'unsupported_type' },
      },
      {
        name: 'pdf-as-text',
        does: 'Sends a PDF, and says that it is plain text.',
        type: 'text/plain',
        body: () => pdfPages({ pages: ['A lamp on a page.'] }),
        expected: { outcome: 'done', content: /A lamp on a page\./ },
      },
      {
        name: 'pdf-damaged',
        does: 'Sends a page, and says that it is a PDF.',
        type: 'application/pdf',
        body: '%PDF-1.4 <html><body>Not found</body></html>',
        expected: { outcome: 'bad_document' },
      },
      {
        name: 'pdf-locked',
        does: 'Sends a PDF that needs a password.',
        type: 'application/pdf',
        body: () => pdf('enc-user256'),
        expected: { outcome: 'password_protected' },
      },
      {
        name: 'pdf-scanned',
        does: 'Sends a PDF that is a picture.',
        type: 'application/pdf',
        body: scannedPdf,
        expected: { outcome: 'no_text_layer' },
      },
      {
        name: 'charset-unknown',
        does: 'Names an encoding of characters that does not exist.',
        type: Buffer.from('text/plain; charset=iso-8859\u20131').toString('latin1'),
        body: 'still read',
        expected: { outcome: 'done', content: 'still read' },
      },
      {
        name: 'not-json',
        does: 'Sends a page, on which `jq` is asked for.',
        type: 'text/html',
        body: html('Lamp', `<main><p>${PROSE}</p></main>`),
        options: { jq: '.a' },
        expected: { outcome: 'not_json' },
      },
      {
        name: 'json-cut-off',
        does: 'Sends half of a JSON document, on which `jq` is asked for.',
        type: 'application/json',
        body: '{"a":',
        options: { jq: '.a' },
        expected: { outcome: 'not_json' },
      },
      {
        name: 'json-of-another-shape',
        does: 'Sends JSON on which the `jq` program asked for fails.',
        type: 'application/json',
        body: '{"a":"lamp"}',
        options: { jq: '.a + 1' },
        expected: { outcome: 'filter_failed' },
      },
      {
        name: 'json-for-endless-program',
        does: 'Sends JSON, on which a `jq` program that never ends is asked for.',
        type: 'application/json',
        body: '{"a":"lamp"}',
        options: { jq: 'last(repeat(1))' },
        expected: { outcome: 'filter_timeout' },
      },
    ] satisfies Served[]
  ).map(served),
  {
    name: 'gone-without-copy',
    does: 'Answers 410, and the archive that `recover` asks has no copy.',
    answer: always(message('410 Gone')),
    options: { recover: true },
    expected: { outcome: 'not_in_archive', requests: 1 },
  },
]
