import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

import type { TargetOptions } from '../../src/jobs/schema.ts'
import { pageOfLines, pdfPages } from '../../test/helpers/pdf-files.ts'

const fixture = (name: string) => readFileSync(`test/fixtures/pages/${name}`)
const html = { 'content-type': 'text/html' }
const article = fixture('article.html')
const documentation = fixture('documentation.html')
const items = fixture('items.json')
const paper = pdfPages({
  pages: ['oil', 'lamps', 'storms'].map((word) => pageOfLines([`All about ${word}.`, 'The end.'])),
})
const cut = gzipSync(article).subarray(0, -20)

interface MixedTarget {
  readonly options?: TargetOptions
  /** `done`, or its error. */
  readonly ends: string
  readonly answer: (response: ServerResponse) => unknown
}

/** Targets of many kinds by their paths. None is tried twice, so that a run takes no longer by chance. */
export const MIXED_TARGETS: Readonly<Record<string, MixedTarget>> = {
  article: { ends: 'done', answer: (response) => response.writeHead(200, html).end(article) },
  documentation: {
    options: { grep: 'install' },
    ends: 'done',
    answer: (response) => response.writeHead(200, html).end(documentation),
  },
  items: {
    options: { jq: '.items | length' },
    ends: 'done',
    answer: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(items),
  },
  paper: {
    options: { pages: '1,-1' },
    ends: 'done',
    answer: (response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end(paper),
  },
  moved: { ends: 'done', answer: (response) => response.writeHead(302, { location: '/article' }).end() },
  missing: { ends: 'http_404', answer: (response) => response.writeHead(404).end('There is no such page.') },
  circle: { ends: 'redirect_loop', answer: (response) => response.writeHead(302, { location: '/circle' }).end() },
  cut: {
    ends: 'bad_encoding',
    answer: (response) => response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(cut),
  },
}
