import { randomBytes } from 'node:crypto'

import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'

import { servePages } from '../helpers/page-server.ts'
import { startService } from '../helpers/process.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { answering, serveSink } from '../helpers/webhook-sink.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

it('a webhook outlives the process that is killed while its receiver hangs, and any of the secrets verifies it', async () => {
  using temp = tempFolder()
  await using pages = await servePages()
  await using sink = await serveSink(() => {}, answering(200))
  const secrets = [newSecret(), newSecret()]
  const env = {
    DATABASE_URL: `file:${temp.file('jobs.db')}`,
    PAGEHAUL_WEBHOOK_SECRET: secrets.join(','),
    PAGEHAUL_PUBLIC_URL: 'https://pagehaul.example.com',
  }
  const killed = await startService(env)
  const { body } = await killed.submit({ targets: [{ url: `${pages.origin}/text` }], webhook: { url: sink.url } })
  const first = await sink.at(0)
  expect(await killed.stop('SIGKILL')).toBe('SIGKILL')

  const service = await startService(env)
  const second = await sink.at(1)
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
  for (const secret of secrets) {
    expect(new Webhook(secret).verify(second.body, second.headers as Record<string, string>)).toMatchObject({
      type: 'job.finished',
      data: { id: body.id, status: 'done', url: `https://pagehaul.example.com/jobs/${body.id}` },
    })
  }
  expect(await service.stop('SIGTERM')).toBe(0)
}, 60_000)

it('a receiver that hangs does not hold up the stop', async () => {
  using temp = tempFolder()
  await using pages = await servePages()
  await using sink = await serveSink(() => {})
  const service = await startService({
    DATABASE_URL: `file:${temp.file('jobs.db')}`,
    PAGEHAUL_WEBHOOK_SECRET: newSecret(),
  })
  await service.submit({ targets: [{ url: `${pages.origin}/text` }], webhook: { url: sink.url } })
  await sink.at(0)
  expect(await service.stop('SIGTERM')).toBe(0)
  await sink.idle()
}, 60_000)
