import createClient from 'openapi-fetch'

import type { Client, Connection, Problem, Reply } from '../client.ts'
import { readLines } from '../client.ts'
import type { paths } from '../generated/paths.ts'

/** openapi-fetch with the types that openapi-typescript generates. */
export function connect({ baseUrl, caller, apiKey }: Connection): Client {
  const client = createClient<paths>({
    baseUrl,
    headers: {
      ...(caller !== undefined && { 'x-caller-id': caller }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    },
  })
  return {
    submit: async (body, { prefer, contentType, rawBody } = {}) =>
      toReply(
        await client.POST('/jobs', {
          body,
          params: { header: { ...(prefer !== undefined && { prefer }) } },
          ...(contentType !== undefined && { headers: { 'Content-Type': contentType } }),
          ...(rawBody !== undefined && { bodySerializer: () => rawBody }),
        }),
      ),
    get: async (id, header = {}) => toReply(await client.GET('/jobs/{id}', { params: { path: { id }, header } })),
    list: async () => toReply(await client.GET('/jobs')),
    async target(id, idx) {
      const answer = await client.GET('/jobs/{id}/targets/{idx}', { params: { path: { id, idx } } })
      return toReply({ ...answer, data: typeof answer.data === 'object' ? answer.data : undefined })
    },
    content: async (id, idx, accept) =>
      toReply(
        await client.GET('/jobs/{id}/targets/{idx}', {
          params: { path: { id, idx } },
          headers: { accept },
          parseAs: 'text',
        }),
      ),
    async *results(id) {
      const { data } = await client.GET('/jobs/{id}/results', {
        params: { path: { id }, query: { follow: true } },
        parseAs: 'stream',
      })
      if (data) yield* readLines(data)
    },
    async *events(id) {
      const { data, error } = await client.GET('/jobs/{id}/events', { params: { path: { id } }, parseAs: 'stream' })
      if (error) throw new Error('The events cannot be had.', { cause: error })
      if (data) yield* readEvents(data)
    },
    cancel: async (id) => toReply(await client.DELETE('/jobs/{id}', { params: { path: { id } } })),
    retry: async (id) => toReply(await client.POST('/jobs/{id}/retry', { params: { path: { id } } })),
  }
}

/** The data of each event. */
async function* readEvents<T>(body: ReadableStream<Uint8Array>): AsyncGenerator<T> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of body) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield JSON.parse(data) as T
    }
  }
}

interface Answer<T> {
  readonly data?: T
  readonly error?: Problem
  readonly response: Response
}

const toReply = <T>({ data, error, response }: Answer<T>): Reply<T> => ({
  status: response.status,
  headers: response.headers,
  data,
  problem: error,
})
