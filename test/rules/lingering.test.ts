import { expect, it } from 'vitest'

import { buildService } from '../helpers/service.ts'

it('nobody gets round a cap by cancelling: beyond as many as the cap allows, cancelled jobs with a target in flight take a place', async () => {
  await using service = await buildService()
  const first = await service.submit(['a'])
  const flying = await service.fetch.next()
  await service.cancel(first.body.id)
  const second = await service.submit(['b'])
  expect(second.status).toBe(202)
  await service.fetch.next()
  await service.cancel(second.body.id)
  const third = await service.submit(['c'])
  expect(third).toMatchObject({
    status: 429,
    body: {
      code: 'caller_busy',
      detail: expect.stringContaining('2 cancelled with a target in flight'),
      hint: expect.stringContaining('in flight'),
      jobs: [],
    },
  })
  expect((await service.submit(['c'], 'bob')).status).toBe(202)
  expect((await service.submit(['a'])).body).toMatchObject({ id: first.body.id, reused: true })
  flying.succeed('A')
  await expect.poll(async () => (await service.submit(['c'])).status).toBe(202)
})

it('a cancelled job can be retried once its last target is stored, and says so before', async () => {
  await using service = await buildService()
  const { body } = await service.submit(['a', 'b'])
  const flying = await service.fetch.next()
  await service.cancel(body.id)
  const retry = () =>
    service.app.inject({ method: 'POST', url: `/jobs/${body.id}/retry`, headers: { 'x-caller-id': 'alice' } })
  expect((await retry()).json()).toMatchObject({
    code: 'job_not_finished',
    detail: expect.stringContaining('in flight'),
  })
  flying.succeed('A')
  await service.runner.idle()
  expect((await retry()).json()).toMatchObject({ retry_of: body.id, targets_total: 1 })
})

it('a retry takes no body', async () => {
  await using service = await buildService()
  const { body } = await service.submit(['a'])
  ;(await service.fetch.next()).fail('http_500')
  await service.runner.idle()
  const retry = (payload: object) =>
    service.app.inject({ method: 'POST', url: `/jobs/${body.id}/retry`, headers: { 'x-caller-id': 'alice' }, payload })
  expect((await retry({ reuse: false })).json()).toMatchObject({ code: 'validation_failed' })
  expect((await retry({})).statusCode).toBe(202)
})
