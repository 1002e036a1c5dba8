import type { InjectOptions } from 'fastify'
import { expect, it } from 'vitest'

import { createKey, digestKey } from '../../src/api-key.ts'
import { AppError, ERROR_CODES, type ErrorCode } from '../../src/errors.ts'
import { RESPONSES } from '../../src/http/problem.ts'
import type { JobStore } from '../../src/jobs/store.ts'
import { until } from '../helpers/open-request.ts'
import { buildService, numbered, targets } from '../helpers/service.ts'
import { wholeService } from '../helpers/whole-service.ts'

type Service = Awaited<ReturnType<typeof buildService>>

/** How to get a problem from a service. */
type Provocation = () => Promise<{ readonly statusCode: number; json(): unknown }>

const alice = { 'x-caller-id': 'alice' }
const submission = (payload: InjectOptions['payload'] = { targets: targets('a') }): InjectOptions => ({
  method: 'POST',
  url: '/jobs',
  headers: { ...alice, 'content-type': 'application/json' },
  payload: payload ?? '',
})

/** Asks a service that is set like this. */
const ask =
  (request: InjectOptions | string, options?: Parameters<typeof buildService>[0]): Provocation =>
  async () => {
    await using service = await buildService(options)
    return await service.app.inject(request)
  }

/** Asks for a job of one target, which is in flight unless it is answered first. */
const askOf =
  (request: (path: string) => InjectOptions, answer?: (service: Service) => Promise<void>): Provocation =>
  async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    await answer?.(service)
    const asked = request(`/jobs/${body.id}`)
    return await service.app.inject({ ...asked, headers: { ...alice, ...asked.headers } })
  }

const succeed = async (service: Service) => {
  service.fetch.answer((call) => call.succeed('A'))
  await service.runner.idle()
}

/** A store of which one method fails so. */
const failing = (method: 'submit' | 'find', error: Error) => ({
  wrapStore: (store: JobStore): JobStore => ({ ...store, [method]: () => Promise.reject(error) }),
})

const fullStore = (code: ErrorCode) => ask(submission(), failing('submit', new AppError(code, 'The store is full.')))

const PROVOCATIONS: Readonly<Record<ErrorCode, Provocation>> = {
  invalid_json: ask(submission('{')),
  unauthorized: ask('/jobs', {
    access: { apiKeys: [{ name: 'alice', digest: digestKey(createKey()), expiresAt: undefined }] },
  }),
  cross_origin: ask({ ...submission(), headers: { 'sec-fetch-site': 'cross-site' } }),
  not_found: ask('/nope'),
  job_not_found: ask('/jobs/none'),
  target_not_found: askOf((path) => ({ url: `${path}/targets/1` })),
  method_not_allowed: ask({ method: 'PUT', url: '/jobs' }),
  not_acceptable: ask({ url: '/problems/timeout', headers: { accept: 'image/png' } }),
  job_finished: askOf((url) => ({ method: 'DELETE', url }), succeed),
  job_not_finished: askOf((path) => ({ method: 'POST', url: `${path}/retry` })),
  nothing_to_retry: askOf((path) => ({ method: 'POST', url: `${path}/retry` }), succeed),
  no_content: askOf((path) => ({ url: `${path}/targets/0`, headers: { accept: 'text/plain' } })),
  body_too_large: ask(submission(`{"targets":"${'x'.repeat(600_000)}"}`)),
  unsupported_media_type: ask({ ...submission('a'), headers: { 'content-type': 'text/css' } }),
  misdirected_request: ask({ ...submission(), headers: { host: 'evil.example' } }),
  validation_failed: ask(submission({ targets: [] })),
  too_many_targets: ask(submission({ targets: targets(...numbered(33)) })),
  caller_busy: askOf(() => submission({ targets: targets('b') })),
  jobs_busy: async () => {
    await using service = await buildService({ jobsTotalMax: 1 })
    await service.submit(['a'], 'bob')
    return await service.app.inject(submission())
  },
  internal_error: ask('/jobs/x', failing('find', new Error('a bug'))),
  programs_unchecked: async () => {
    await using service = await wholeService()
    const checked = numbered(40).map((name) => submission({ targets: targets(name), options: { grep: name } }))
    const answers = await Promise.all(checked.map((request) => service.app.inject(request)))
    const refused = answers.find(({ statusCode }) => statusCode === 503)
    if (refused === undefined) throw new Error('All programs were checked.')
    return refused
  },
  too_many_followers: async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a'])
    const follow = () => service.app.inject({ url: `/jobs/${body.id}/events`, headers: alice })
    const following = Array.from({ length: 256 }, follow)
    await until(() => service.changes.waiters(body.id) === following.length)
    const refused = await follow()
    await succeed(service)
    await Promise.all(following)
    return refused
  },
  shutting_down: async () => {
    await using service = await buildService()
    service.jobs.stop()
    return await service.app.inject(submission())
  },
  storage_full: fullStore('storage_full'),
  storage_unavailable: fullStore('storage_unavailable'),
}

it.each(ERROR_CODES)('%s can be provoked, and is told with its status', async (code) => {
  const { status, title } = RESPONSES[code]
  const response = await PROVOCATIONS[code]()
  expect(response.statusCode).toBe(status)
  expect(response.json()).toMatchObject({ code, status, title, type: `/problems/${code}`, detail: expect.any(String) })
})
