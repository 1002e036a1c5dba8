import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { DeliverWebhook } from '../../src/jobs/webhook-message.ts'
import { resolveReferences } from '../helpers/resolve-references.ts'
import { buildService } from '../helpers/service.ts'
import { WEBHOOK_SECRETS } from '../helpers/webhook-sink.ts'

const REQUESTS = 10_000
/** Headers that every answer of HTTP can have. */
const FRAMING = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'])

interface Schema {
  $ref?: string
  type?: string
  enum?: readonly unknown[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, unknown>; headers?: Record<string, unknown> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

interface Sent {
  readonly id: string
  readonly idx: string
  readonly code: string
  readonly query: Record<string, string>
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

const URLS = [
  'https://',
  'http://[::1',
  'HTTP://a.example',
  'https://a.example:99999/',
  'http://u:p@h/#f',
  'https://xn--/',
  'ftp://a.example',
]

/** Values that fit `schema`, and a few that only nearly do. */
function valueOf(schema: Schema, { components }: Document): fc.Arbitrary<unknown> {
  const of = (inner: Schema) => valueOf(inner, { components, paths: {} })
  if (schema.$ref !== undefined) return of(components.schemas[schema.$ref.split('/').pop() ?? ''] ?? {})
  if (schema.enum) return fc.constantFrom(...schema.enum, schema.enum[0]) // Sure not to be refused, most of the time.
  switch (schema.type ?? 'object') {
    case 'string':
      if (schema.format === 'http-url')
        return fc.oneof(
          { weight: 5, arbitrary: fc.constantFrom('https://a.example/', 'https://b.example/x') },
          { weight: 3, arbitrary: fc.webUrl() },
          fc.constantFrom(...URLS),
        )
      if (schema.format === 'jq') return fc.constantFrom('.a', '.[] | {b}', 'empty', '.', 'map(', 'env')
      if (schema.format === 're2') return fc.constantFrom('a+', '(?i)x', '^$', String.raw`\pL`, '(', '(?=x)')
      if (schema.format === 'page-ranges') return fc.constantFrom('1-3,7', '5-', '-2', '9-7', '0', '')
      return fc.string({
        minLength: schema.minLength ?? 0,
        maxLength: Math.min(schema.maxLength ?? 40, 40),
        unit: 'binary',
      })
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 1_000 })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(of(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 5 })
    default: {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
        const rare = ['text', 'jq', 're2', 'page-ranges'].includes(field.format ?? '') || name === 'question'
        return [
          name,
          rare ? fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, of(field)) : of(field),
        ] as const
      })
      return fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [] })
    }
  }
}

/** `value` with one place in it set to junk, given an extra field, or removed. */
function mutated(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(value, fc.jsonValue({ maxDepth: 2 }), fc.nat(50), fc.constantFrom('set', 'add', 'delete'))
    .map(([original, junk, place, how]) => {
      const root: Record<string, unknown> = { root: structuredClone(original) }
      const places: [Record<string, unknown>, string][] = []
      const walk = (parent: Record<string, unknown>, key: string) => {
        places.push([parent, key])
        const child = parent[key]
        if (typeof child === 'object' && child !== null)
          for (const name of Object.keys(child)) walk(child as Record<string, unknown>, name)
      }
      walk(root, 'root')
      const [parent, key] = places[place % places.length] ?? [root, 'root']
      const child = parent[key]
      if (how === 'set') parent[key] = junk
      else if (how === 'delete') delete parent[key]
      else if (typeof child === 'object' && child !== null && !Array.isArray(child))
        Object.assign(child, { [`é/~${place}`]: junk })
      return root.root ?? null
    })
}

function requestOf(
  operation: Operation,
  document: Document,
  knownIds: readonly string[],
  accepted: readonly string[],
): fc.Arbitrary<Sent> {
  const parameters = (place: string) => operation.parameters?.filter(({ in: where }) => where === place) ?? []
  const query = parameters('query').map(({ name, schema }) => [name, valueOf(schema, document).map(String)] as const)
  const schema = operation.requestBody?.content['application/json']?.schema
  const body = schema && valueOf(schema, document)
  const types = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'text/uri-list', 'garbage']
  return fc.record({
    id: fc.oneof(
      { weight: 5, arbitrary: fc.nat(3).map((back) => knownIds.at(-1 - back) ?? 'none') },
      // `.` and `..` are no ids: whoever builds the URL leaves them out, and asks for another path.
      fc.string({ minLength: 1, unit: 'grapheme' }).filter((id) => id !== '.' && id !== '..'),
    ),
    idx: fc.oneof({ weight: 4, arbitrary: fc.nat(5).map(String) }, fc.constantFrom('-1', '1e3', 'x', '31', ' 1')),
    code: fc.constantFrom('job_not_found', 'timeout', 'http_404', 'nothing'),
    query: fc.oneof(
      { weight: 3, arbitrary: fc.record<Record<string, string>>(Object.fromEntries(query)) },
      fc.dictionary(fc.constantFrom('limit', 'view', 'after', 'x'), fc.string()),
    ),
    headers: fc.record(
      {
        'x-caller-id': fc.constantFrom('alice', 'bob', 'carol', 'dave', 'x'.repeat(200)),
        'last-event-id': fc.constantFrom('0', '1', 'end', 'x'),
        'if-none-match': fc.constantFrom('*', 'W/"done-1"', '"x"'),
        'content-type': fc.oneof({ weight: 8, arbitrary: fc.constant('application/json') }, fc.constantFrom(...types)),
        accept: fc.constantFrom('*/*', 'application/json', 'text/markdown', 'text/html', 'image/png'),
      },
      { requiredKeys: body ? ['content-type'] : [] },
    ),
    body: body
      ? fc.oneof(
          { weight: 3, arbitrary: body.map((value) => JSON.stringify(value)) },
          { weight: 3, arbitrary: mutated(body).map((value) => JSON.stringify(value)) },
          { weight: 1, arbitrary: fc.nat(3).map((back) => accepted.at(-1 - back)) },
          fc.string(),
          fc.constant(undefined),
        )
      : fc.constant(undefined),
  })
}

describe('the OpenAPI document', () => {
  it(`holds for ${REQUESTS} random requests: no 5xx, no undocumented status or type, no body that does not fit`, async () => {
    const deliver: DeliverWebhook = async ({ url }) => ({ status: url.length % 2 === 0 ? 200 : 500 })
    await using service = await buildService({
      jobsPerCallerMax: 2,
      jobsTotalMax: 3,
      leaseMs: 3_600_000,
      webhooks: { deliver, secrets: WEBHOOK_SECRETS },
    })
    // One of the well-known URLs never answers: its jobs stay live until the clock reaches the deadline.
    service.fetch.answer((call) => {
      if (call.url.includes('b.example')) return
      if (call.url.length % 3 === 0) call.fail('http_500')
      else call.succeed(call.url)
    })
    await service.app.ready()
    const document = resolveReferences((await service.app.inject('/openapi.json')).json<Document>())
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addSchema({ ...document, $id: 'document' })
    const escape = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
    const ids: string[] = []
    const accepted: string[] = []
    const statuses = new Set<string>()

    const check = async (
      path: string,
      method: string,
      operation: Operation,
      { id, idx, code, query, headers, body }: Sent,
    ) => {
      // Following a live job, or one with a target in flight, takes as long as that does; it is for other tests.
      const follows = operation.operationId === 'streamEvents' || query.follow === 'true'
      if (follows) {
        const caller = headers['x-caller-id']
        const asked = {
          url: `/jobs/${encodeURIComponent(id)}`,
          headers: caller === undefined ? {} : { 'x-caller-id': caller },
        }
        const job = (await service.app.inject(asked)).json<{ status: unknown }>()
        if (job.status === 'running' || job.status === 'cancelled') return
      }
      const search = new URLSearchParams(query).toString()
      const url = path
        .replace('{id}', encodeURIComponent(id))
        .replace('{idx}', encodeURIComponent(idx))
        .replace('{code}', code)
      const response = await service.app.inject({
        method: method.toUpperCase() as 'GET',
        url: search ? `${url}?${search}` : url,
        headers,
        ...(body === undefined ? {} : { payload: body }),
      })
      const status = String(response.statusCode)
      const type = String(response.headers['content-type']).split(';')[0] ?? ''
      statuses.add(`${operation.operationId} ${status}`)
      expect(response.statusCode, response.body).toBeLessThan(500)
      expect(Object.keys(operation.responses), operation.operationId).toContain(status)
      const documented = Object.keys(operation.responses[status]?.headers ?? {}).map((name) => name.toLowerCase())
      const sent = Object.keys(response.headers).filter((name) => !FRAMING.has(name))
      expect([...FRAMING, ...documented], `${operation.operationId} ${status}`).toEqual(expect.arrayContaining(sent))
      if (status === '204' || status === '304') {
        expect(response.body).toBe('')
        return
      }
      expect(Object.keys(operation.responses[status]?.content ?? {})).toContain(type)
      const pointer = ['paths', path, method, 'responses', status, 'content', type, 'schema'].map(escape).join('/')
      const validate = ajv.getSchema(`document#/${pointer}`)
      const fits = validate?.(/[/+]json$/.test(type) ? response.json() : response.body)
      expect(fits, `${ajv.errorsText(validate?.errors)} ${response.body.slice(0, 500)}`).toBe(true)
      if (operation.operationId === 'submitJob' && response.statusCode < 300) {
        ids.push(response.json<{ id: string }>().id)
        accepted.push(body ?? '')
      }
    }

    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    const numRuns = Math.ceil(REQUESTS / 50 / operations.length)
    for (let round = 0; round < 50; round++) {
      for (const { path, method, operation } of operations) {
        const property = fc.asyncProperty(requestOf(operation, document, ids, accepted), (sent) =>
          check(path, method, operation, sent),
        )
        await fc.assert(property, { numRuns, endOnFailure: true })
      }
      service.clock.advance(600_000) // So that jobs expire too.
    }
    for (const reached of [
      'submitJob 202',
      'submitJob 200',
      'submitJob 422',
      'submitJob 429',
      'getJob 200',
      'getTarget 200',
      'cancelJob 409',
    ]) {
      expect([...statuses]).toContain(reached)
    }
  }, 120_000)

  it('names every operation once and documents every code of the problem table', async () => {
    await using service = await buildService()
    const document = (await service.app.inject('/openapi.json')).json<Document>()
    const names = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(new Set(names).size).toBe(names.length)
    expect(Object.keys(document.components.schemas).toSorted()).toEqual([
      'Answer',
      'ErrorDescription',
      'Fault',
      'FinishedJob',
      'Health',
      'JobFinished',
      'JobList',
      'JobStatus',
      'JobSummary',
      'JobView',
      'OutlineEntry',
      'Passage',
      'Problem',
      'ProblemCode',
      'Recovered',
      'Submission',
      'Target',
      'TargetMeta',
      'TargetOptions',
      'TargetResult',
      'TargetStatus',
      'TargetView',
      'Webhook',
      'WebhookView',
    ])
  })
})
