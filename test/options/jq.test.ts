import { expect, it } from 'vitest'

import { serve } from '../helpers/serve.ts'
import { wholeService } from '../helpers/whole-service.ts'

const ITEMS = '{"items":[{"id":675127116845989888,"name":"lamp"},{"id":1.10,"name":"bell"}]}'
const PAGE =
  '<!doctype html><html lang="en"><head><title>Links</title></head><body><main><h1>Links</h1><p>Here are <a href="/a">one</a> and <a href="https://b.example/">two</a>.</p></main></body></html>'

it('jq filters JSON, JSON Lines, links and metadata, and fails what is none of them', async () => {
  await using pages = await serve({
    '/json': { type: 'application/json', body: ITEMS },
    '/bom': { type: 'application/json', body: `\uFEFF${ITEMS}` },
    '/text': { type: 'text/plain', body: ITEMS },
    '/lines': { type: 'application/x-ndjson', body: '{"a":1}\n{"a":2}\n' },
    '/html': { type: 'text/html', body: PAGE },
    '/pdf': { type: 'application/pdf', body: '%PDF-1.4\n' },
    '/broken': { type: 'application/json', body: '{"a":' },
    '/feed': {
      type: 'application/json',
      body: '{"version":"https://jsonfeed.org/version/1.1","title":"F","items":[{"id":"1","content_text":"x"}]}',
    },
  })
  await using service = await wholeService()
  const cases: [string, object, unknown][] = [
    ['/json', { jq: '.items[].id' }, '675127116845989888\n1.10'],
    ['/json', { jq: '.items[].name', grep: 'l$|"l' }, '"lamp"'],
    ['/json', {}, ITEMS],
    ['/bom', { jq: '.items[1]' }, '{"id":1.10,"name":"bell"}'],
    ['/text', { jq: '.items | length' }, '2'],
    ['/lines', { jq: '.a' }, '1\n2'],
    ['/feed', { jq: '.items[0].content_text' }, '"x"'],
    ['/html', { mode: 'links', jq: '.[].url' }, `"${pages.origin}/a"\n"https://b.example/"`],
    ['/html', { mode: 'metadata', jq: '.title' }, '"Links"'],
    ['/html', { jq: '.title' }, 'not_json'],
    ['/pdf', { jq: '.title' }, 'not_json'],
    ['/broken', { jq: '.a' }, 'not_json'],
    ['/json', { jq: '.items[].name | . + 1' }, 'filter_failed'],
  ]
  const outcomes = await service.outcomes(cases.map(([path, options]) => ({ url: pages.origin + path, options })))
  expect(outcomes.map(({ result, error }) => result?.content ?? error)).toEqual(cases.map(([, , expected]) => expected))
})
