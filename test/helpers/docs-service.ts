import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { serveArchive } from './fake-archive.ts'
import { pageOfLines, pdfPages } from './pdf-files.ts'
import { startService } from './process.ts'
import { serve } from './serve.ts'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/docs/${name}`, import.meta.url))
const NAMES = fileURLToPath(new URL('./made-up-names.mjs', import.meta.url))

/** The service and the pages that the examples of the documents speak of. `await using` ends them. */
export async function serveDocs() {
  const keepers = fixture('keepers.html')
  const pages = await serve({
    '/keepers.html': { type: 'text/html', body: keepers },
    '/lamps.json': { type: 'application/json', body: fixture('lamps.json') },
    '/paper.pdf': {
      type: 'application/pdf',
      body: pdfPages({
        pages: [
          pageOfLines(['The lamp burns oil from dusk to dawn.']),
          pageOfLines(['Oil is brought in June.', 'It is kept in iron tanks.']),
          pageOfLines(['In a storm the keeper stays at the lamp.']),
        ],
      }),
    },
    '/hook': { status: 204, body: '' },
    '/slow.txt': (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('a'),
  })
  const archive = await serveArchive([
    { at: '20210614093000', url: 'http://lighthouse.example/keepers', body: keepers },
  ])
  const service = await startService({
    DATABASE_URL: ':memory:',
    PAGEHAUL_JOBS_PER_CALLER: '8',
    PAGEHAUL_ARCHIVE_URL: archive.origin,
    PAGEHAUL_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 'secret').toString('base64')}`,
    NODE_OPTIONS: `--import ${NAMES}`,
  })
  return {
    /** What the documents call these servers, and what they are called now. */
    replaced: {
      '127.0.0.1:8080': new URL(service.origin).host,
      '127.0.0.1:9000': new URL(pages.origin).host,
      '127.0.0.1:9001': new URL(archive.origin).host,
    },
    service,
    async [Symbol.asyncDispose]() {
      await service.stop('SIGTERM')
      await archive[Symbol.asyncDispose]()
      await pages[Symbol.asyncDispose]()
    },
  }
}
