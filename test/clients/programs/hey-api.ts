import type { Client, Connection, Problem, Reply } from '../client.ts'
import { readLines } from '../client.ts'
import { createClient } from '../generated/hey-api/client/index.ts'
import * as sdk from '../generated/hey-api/sdk.gen.ts'

/** The client that @hey-api/openapi-ts generates. */
export function connect({ baseUrl, caller, apiKey }: Connection): Client {
  const client = createClient({
    baseUrl,
    ...(caller !== undefined && { headers: { 'x-caller-id': caller } }),
    ...(apiKey !== undefined && { auth: apiKey }),
  })
  return {
    submit: async (body, { prefer, contentType, rawBody } = {}) =>
      toReply(
        await sdk.submitJob({
          client,
          body,
          headers: { ...(prefer !== undefined && { prefer }), ...(contentType !== undefined && type(contentType)) },
          ...(rawBody !== undefined && { bodySerializer: () => rawBody }),
        }),
      ),
    get: async (id, headers = {}) => toReply(await sdk.getJob({ client, path: { id }, headers })),
    list: async () => toReply(await sdk.listJobs({ client })),
    target: async (id, idx) => toReply(await sdk.getTarget({ client, path: { id, idx } })),
    content: async (id, idx, accept) =>
      toReply<string>(
        await client.get<{ 200: string }, Problem>({
          url: '/jobs/{id}/targets/{idx}',
          path: { id, idx },
          headers: { accept },
        }),
      ),
    async *results(id) {
      const { data } = await sdk.streamResults({ client, path: { id }, query: { follow: true }, parseAs: 'stream' })
      // The document says text, and so the type does; what was asked for is the stream of it.
      yield* readLines(data as unknown as ReadableStream<Uint8Array>)
    },
    async *events(id) {
      let failure: Error | undefined
      const { stream } = await sdk.streamEvents({
        client,
        path: { id },
        sseMaxRetryAttempts: 1,
        onSseError: (cause) => (failure = new Error('The events cannot be had.', { cause })),
      })
      for await (const data of stream) yield data as never // The document says text; the client parses it.
      if (failure) throw failure
    },
    cancel: async (id) => toReply(await sdk.cancelJob({ client, path: { id } })),
    retry: async (id) => toReply(await sdk.retryJob({ client, path: { id } })),
  }
}

const type = (contentType: string): object => ({ 'Content-Type': contentType })

interface Answer<T> {
  readonly data: T | undefined
  readonly error: Problem | undefined
  readonly response?: Response
}

function toReply<T>({ data, error, response }: Answer<T>): Reply<T> {
  if (response === undefined) throw new Error('There was no answer.', { cause: error })
  return { status: response.status, headers: response.headers, data, problem: error }
}
