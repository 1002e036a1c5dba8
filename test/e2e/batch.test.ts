import { expect, it } from 'vitest'

import type { JobView } from '../../src/jobs/schema.ts'
import { servePages } from '../helpers/page-server.ts'
import { startService } from '../helpers/process.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const PATHS = ['/article', '/docs', '/table', '/gbk', '/items.json', '/nowhere', '/slow', '/moved', '/text', '/article']

function expectHonest(job: JobView): void {
  const outcomes = job.targets.filter(({ status }) => status !== 'pending')
  expect(job.targets.map(({ idx }) => idx)).toEqual(PATHS.map((_, idx) => idx))
  expect(job.targets_total).toBe(PATHS.length)
  expect(job.targets_done).toBe(outcomes.length)
  expect(job.targets_failed).toBe(outcomes.filter(({ status }) => status === 'failed').length)
  expect(outcomes.map(({ idx }) => idx)).toEqual(outcomes.map((_, idx) => idx))
  expect(job.finished_at !== undefined).toBe(job.status !== 'running')
  for (const target of job.targets) {
    expect('result' in target).toBe(target.status === 'done')
    expect('error' in target && 'message' in target && 'hint' in target).toBe(target.status === 'failed')
  }
}

it('`npm start` takes a batch of 10 and gives back 10 right outcomes, in order, with counts that add up at every poll', async () => {
  using temp = tempFolder()
  await using pages = await servePages()
  const service = await startService({ DATABASE_URL: `file:${temp.file('jobs.db')}` }, ['npm', 'start'])
  const targets = PATHS.map((path, idx) => ({ url: pages.origin + path, custom_id: `t${idx}` }))
  const { status, body } = await service.submit({ targets })
  expect(status).toBe(202)

  let released = false
  let job = body
  while (job.status === 'running') {
    job = await service.get(body.id)
    expectHonest(job)
    if (!released && job.targets_done === 6) {
      await pages.slowAsked
      await pages.release()
      released = true
    }
  }
  expect(job).toMatchObject({ status: 'partial', targets_done: 10, targets_failed: 1 })
  expect(pages.hits).toEqual(PATHS.flatMap((path) => (path === '/moved' ? ['/moved', '/article'] : [path])))

  const content = (idx: number) => job.targets[idx]?.result?.content ?? ''
  expect(content(0)).toMatch(/^# The lighthouse keeper of Skerry Rock/)
  expect(job.targets[0]?.result?.meta).toMatchObject({
    final_url: `${pages.origin}/article`,
    http_status: 200,
    content_type: 'text/html',
    charset: 'UTF-8',
    site_name: 'Harbour Review',
    language: 'en-GB',
    attempts: 1,
  })
  expect(content(1)).toContain('```python\n')
  expect(content(2)).toContain('| S15 | 150 m | 22.5 |')
  expect(content(3)).toContain('中文网页')
  expect(job.targets[3]?.result?.meta.charset).toBe('GBK')
  expect(content(4)).toContain('675127116845989888')
  expect(job.targets[5]).toMatchObject({
    status: 'failed',
    error: 'http_404',
    message: 'The server answered 404 Not Found.',
  })
  expect(content(6)).toBe('at last')
  expect(job.targets[7]?.result?.meta.final_url).toBe(`${pages.origin}/article`)
  expect(content(7)).toBe(content(0))
  expect(content(8)).toBe('plain text\n')
  expect(content(9)).toBe(content(0))

  expect((await service.submit({ targets })).body).toMatchObject({ id: body.id, reused: true })
  await service.stop('SIGTERM')
  await expect(fetch(`${service.origin}/livez`)).rejects.toThrow('fetch failed')
}, 60_000)
