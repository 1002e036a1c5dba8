import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

import { serve } from './raw-server.ts'

/** What a model is asked. */
export interface ChatRequest {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly temperature: number
  readonly max_tokens: number
  readonly stream: boolean
}

/** Answers one request, or does not. */
export type ModelAct = (response: ServerResponse, asked: ChatRequest) => void

/**
 * An API that speaks OpenAI's protocol for one model, and refuses what breaks it. Each request takes the next act; the
 * last one is for all that follow.
 */
export async function serveModel(
  acts: readonly ModelAct[],
  { apiKey, host = '127.0.0.2' }: { apiKey?: string; host?: string } = {},
) {
  const requests: ChatRequest[] = []
  const headers: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const asked = parseChat(text)
      const isRoute = request.method === 'POST' && request.url?.split('?')[0] === '/v1/chat/completions'
      if (!isRoute) return refuse(response, 404, 'There is no such route.')
      if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
        return refuse(response, 401, `Incorrect API key provided: ${request.headers.authorization}`)
      }
      if (request.headers['content-type'] !== 'application/json' || asked === undefined) {
        return refuse(response, 400, 'This is not a chat.')
      }
      const act = acts[Math.min(requests.length, acts.length - 1)]
      requests.push(asked)
      headers.push(request.headers)
      act?.(response, asked)
    })
  })
  const served = await serve(server, { host })
  return {
    /** What was asked, of requests that keep to the protocol. */
    requests,
    headers,
    origin: served.origin,
    baseUrl: `${served.origin}/v1`,
    idle: () => served.idle(),
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

/** Answers with a text. */
export const writing =
  (content: unknown, finish_reason = 'stop'): ModelAct =>
  (response, { model }) => {
    const message = { role: 'assistant', content }
    sendJson(response, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_767_225_600,
      model,
      choices: [{ index: 0, message, finish_reason }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    })
  }

/** Answers with success and any text as a body. */
export const sending =
  (body: string): ModelAct =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)

/** Answers with a status of failure. */
export const refusing =
  (status: number, headers: Record<string, string> = {}): ModelAct =>
  (response) =>
    refuse(response, status, 'Something is wrong.', headers)

/** Breaks the connection off. */
export const breaking: ModelAct = (response) => void response.socket?.resetAndDestroy()

function parseChat(text: string): ChatRequest | undefined {
  try {
    const asked = JSON.parse(text) as Partial<ChatRequest>
    const { model, messages, stream } = asked
    const areMessages = messages?.every(({ role, content }) => /^(?:system|user)$/.test(role) && content !== '')
    return model === 'small-model' && areMessages === true && stream === false ? (asked as ChatRequest) : undefined
  } catch {
    return undefined
  }
}

function refuse(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ error: { message, type: 'error', code: null } }))
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
