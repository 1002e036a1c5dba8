import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { setImmediate } from 'node:timers/promises'

/** An answer over a real socket, read as it comes. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The next line without its end, undefined after the last. @throws {Error} if the answer is cut off. */
  line(): Promise<string | undefined>
  /** All lines that are left. @throws {Error} if the answer is cut off. */
  rest(): Promise<string[]>
  /** All that is left, as one text. @throws {Error} if the answer is cut off. */
  text(): Promise<string>
  /** Goes away without a word. */
  leave(): void
}

interface OpenOptions {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** Sends a request on a connection of its own, and resolves once the header of the answer has come. */
export function openRequest(url: string, { method = 'GET', headers = {}, body }: OpenOptions = {}) {
  return new Promise<OpenAnswer>((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers: { 'x-caller-id': 'alice', ...headers } })
    sent.on('response', (response) => {
      const lines = linesOf(response)
      const rest = async () => {
        const left: string[] = []
        for await (const line of lines) left.push(line)
        return left
      }
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        line: async () => (await lines.next()).value ?? undefined,
        rest,
        text: async () => (await rest()).join('\n'),
        leave: () => sent.destroy(),
      })
    })
    sent.on('error', reject).end(body)
  })
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  if (text !== '') yield text
}

/** Resolves once the condition holds, which it does as soon as everybody else has had their turn. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate()
}

/** An event of a stream, as its lines say. */
export interface StreamEvent {
  readonly event: string
  readonly id: string
  readonly data: string
}

/** The next event of the stream, undefined at its end. Comments are passed over. */
export async function nextEvent(stream: OpenAnswer): Promise<StreamEvent | undefined> {
  const fields = new Map<string, string>()
  for (;;) {
    const line = await stream.line()
    if (line === undefined) return undefined
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    if (name !== '') fields.set(name, value)
    const [event, id, data] = ['event', 'id', 'data'].map((field) => fields.get(field) ?? '')
    if (line === '' && data) return { event: event ?? '', id: id ?? '', data }
    if (line === '') fields.clear()
  }
}

/** Every event that is left. */
export async function restOfEvents(stream: OpenAnswer): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for (let event = await nextEvent(stream); event; event = await nextEvent(stream)) events.push(event)
  return events
}
