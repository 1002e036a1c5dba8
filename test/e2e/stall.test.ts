import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, it } from 'vitest'

import { heavyPages } from '../helpers/heavy-pages.ts'
import { startService } from '../helpers/process.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

it('answers /livez while the heaviest pages convert', async () => {
  using temp = tempFolder()
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(heavyPages[url.slice(1)]?.())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const service = await startService({ DATABASE_URL: `file:${temp.file('jobs.db')}` })
  const targets = Object.keys(heavyPages).map((name) => ({ url: `http://127.0.0.1:${port}/${name}` }))
  const { body } = await service.submit({ targets })

  let probes = 0
  let job = body
  while (job.status === 'running') {
    const [live, next] = await Promise.all([fetch(`${service.origin}/livez`), service.get(body.id)])
    expect(live.status).toBe(200)
    probes += 1
    job = next
  }
  expect(job.targets_done).toBe(targets.length)
  for (const { error } of job.targets) expect(['bad_document', 'empty', 'timeout', undefined]).toContain(error)
  expect(probes).toBeGreaterThan(10)
  expect(await service.stop('SIGTERM')).toBe(0)
  server.close()
}, 100_000)
