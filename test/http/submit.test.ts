import { describe, expect, it } from 'vitest'

import { openRequest, restOfEvents } from '../helpers/open-request.ts'
import { buildService } from '../helpers/service.ts'

const alice = { 'x-caller-id': 'alice' }

describe('a body of text/uri-list', () => {
  const post = (service: Awaited<ReturnType<typeof buildService>>, payload: string | Buffer, type = 'text/uri-list') =>
    service.app.inject({ method: 'POST', url: '/jobs', headers: { ...alice, 'content-type': type }, payload })

  it.each([
    ['LF', 'https://a.example/\nhttps://b.example/x?y=%20z\n'],
    ['CRLF', 'https://a.example/\r\nhttps://b.example/x?y=%20z\r\n'],
    ['CR', 'https://a.example/\rhttps://b.example/x?y=%20z'],
    ['comments', '# a list\nhttps://a.example/\n#https://no.example/\n  # indented\nhttps://b.example/x?y=%20z'],
    ['blank lines', '\n\n  \t\nhttps://a.example/\n\n\r\nhttps://b.example/x?y=%20z\n\n'],
    ['white space around', '  https://a.example/\t\n\thttps://b.example/x?y=%20z  '],
    ['a byte order mark', '\uFEFFhttps://a.example/\nhttps://b.example/x?y=%20z'],
  ])('is a URL a line: %s', async (_what, list) => {
    await using service = await buildService()
    const answer = await post(service, list)
    expect(answer.statusCode).toBe(202)
    expect(answer.json()).toMatchObject({
      targets_total: 2,
      targets: [{ url: 'https://a.example/' }, { url: 'https://b.example/x?y=%20z' }],
    })
  })

  it('is the same submission as its targets in JSON', async () => {
    await using service = await buildService()
    const listed = await post(service, 'https://a.example/\nhttps://b.example/')
    expect((await service.submit(['a', 'b'])).body).toMatchObject({ id: listed.json().id, reused: true })
  })

  it('is UTF-8 whatever its type calls it, and refused if it is not', async () => {
    await using service = await buildService()
    const type = 'Text/URI-List; charset=iso-8859-1'
    const read = await post(service, 'https://a.example/é', type)
    expect(read.json()).toMatchObject({ targets: [{ url: 'https://a.example/é' }] })
    const refused = await post(service, Buffer.from('https://a.example/é', 'latin1'), type)
    expect(refused.json()).toMatchObject({
      status: 422,
      code: 'validation_failed',
      detail: expect.stringContaining('UTF-8'),
    })
  })

  it('is refused without a URL, with a faulty one and with too many, as JSON would be', async () => {
    await using service = await buildService()
    for (const nothing of ['', '\n', '# nothing\n', '\uFEFF']) {
      expect((await post(service, nothing)).json()).toMatchObject({ status: 422, errors: [{ pointer: '/targets' }] })
    }
    const faulty = await post(service, '# first\nhttps://a.example/\nnot a url\nftp://b.example/\n')
    expect(faulty.json()).toMatchObject({
      status: 422,
      errors: [{ pointer: '/targets/1/url' }, { pointer: '/targets/2/url' }],
    })
    const many = await post(service, 'https://a.example/\n'.repeat(33))
    expect(many.json()).toMatchObject({ status: 422, code: 'too_many_targets', limit: 32 })
    const huge = await post(service, 'https://a.example/\n'.repeat(20_000))
    expect(huge.json()).toMatchObject({ status: 422, code: 'too_many_targets' })
    expect((await service.list()).body.jobs).toEqual([])
  })
})

describe('custom_id', () => {
  it('comes back in every view, of a target that is pending, done or failed', async () => {
    await using service = await buildService()
    const customIds = ['p1', 'ünïcode 𠮷', 'x'.repeat(64)]
    const targets = customIds.map((custom_id, idx) => ({ url: `https://t${idx}.example/`, custom_id }))
    const { body } = await service.submit({ targets })
    const ids = (views: readonly { custom_id?: string | undefined }[]) => views.map(({ custom_id }) => custom_id)
    expect(ids(body.targets)).toEqual(customIds)
    await service.fetch.next().then((call) => call.succeed('0'))
    await service.fetch.next().then((call) => call.fail('timeout'))
    await service.fetch.peek()
    const read = (path: string) => service.app.inject({ url: `/jobs/${body.id}${path}`, headers: alice })
    for (const path of ['', '?view=summary']) expect(ids((await read(path)).json().targets)).toEqual(customIds)
    for (const [idx, customId] of customIds.entries()) {
      expect((await read(`/targets/${idx}`)).json()).toMatchObject({ custom_id: customId })
    }
    expect((await read('/targets/0?limit=1')).json()).toMatchObject({ custom_id: 'p1' })
    const lines = (await read('/results')).body.trimEnd().split('\n')
    expect(ids(lines.map((line) => JSON.parse(line)))).toEqual(customIds.slice(0, 2))

    expect(ids((await service.cancel(body.id)).body.targets)).toEqual(customIds)
    service.fetch.answer((call) => call.succeed('2'))
    await service.runner.idle()
    const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const events = await restOfEvents(await openRequest(`${origin}/jobs/${body.id}/events`))
    expect(ids(events.slice(0, -1).map(({ data }) => JSON.parse(data)))).toEqual(customIds)
  })

  it('is left out where none was sent, and none is made up', async () => {
    await using service = await buildService()
    const { body } = await service.submit({
      targets: [
        { url: 'https://a.example/' },
        { url: 'https://b.example/', custom_id: 'b' },
        { url: 'https://c.example/' },
      ],
    })
    expect(body.targets.map((target) => 'custom_id' in target)).toEqual([false, true, false])
  })
})

describe('while a job is live', () => {
  it('worst_case_s says in how many seconds it has ended at the latest, and goes when it has', async () => {
    await using service = await buildService()
    const { body } = await service.submit(['a', 'b', 'c'])
    expect(body.worst_case_s).toBe(180)
    await service.fetch.next().then((call) => call.succeed('A'))
    await service.fetch.peek()
    expect((await service.get(body.id)).body.worst_case_s).toBe(120)
    for (let left = 2; left > 0; left--) {
      await service.fetch.next()
      service.clock.advance(60_000)
    }
    await service.runner.idle()
    const { body: job } = await service.get(body.id)
    expect(job).not.toHaveProperty('worst_case_s')
    expect(job).toMatchObject({ status: 'partial', finished_at: '2026-01-01T00:02:00.000Z' })
  })
})
