import { AppError, ERROR_CODES, type ErrorCode } from '../errors.ts'
import { EXAMPLES, PROBLEM_EXAMPLES, REQUEST_ID_EXAMPLE } from './openapi-examples.ts'
import { toProblem } from './problem.ts'

interface Header {
  readonly schema: object
  readonly description: string
}

interface Media {
  schema: object
  examples?: Record<string, object>
}

interface Response {
  readonly description: string
  headers?: Record<string, Header>
  readonly content?: Record<string, Media>
}

interface Operation {
  readonly operationId: string
  readonly security?: readonly object[]
  readonly parameters?: { readonly name: string }[]
  readonly requestBody?: { readonly content: Record<string, Media> }
  readonly responses: Record<string, Response>
}

/** What is touched of a document of OpenAPI 3.1. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: object
    examples?: Record<string, object>
    headers?: Record<string, object>
    parameters?: Record<string, object>
    responses?: Record<string, object>
  }
}

const URI_LIST = {
  type: 'string',
  description: 'A URL a line (RFC 2483); lines that start with `#` are comments.',
}
const PROBLEM_TYPE = 'application/problem+json'

/**
 * Completes the document that the routes make: what hooks answer on every route, examples, and names for what several
 * operations share, so that generated clients have one type of it.
 */
export function finishDocument(document: OpenApiDocument): void {
  const operations = Object.values(document.paths).flatMap((path) => Object.entries(path))
  for (const [method, operation] of operations) {
    addCommonResponses(method, operation)
    addCommonHeaders(operation)
    describeTextBodies(operation)
    addExamples(operation)
  }
  const named = operations.flatMap(([, { responses }]) =>
    Object.values(responses).flatMap(({ description }) => codesIn(description)),
  )
  document.components.examples = problemExamples(ERROR_CODES.filter((code) => named.includes(code)))
  nameShared(
    document,
    operations.map(([, operation]) => operation),
  )
}

const isForCallers = ({ security }: Operation): boolean => security === undefined || security.length > 0

/** What is answered before a route for callers is reached. */
function addCommonResponses(method: string, operation: Operation): void {
  if (!isForCallers(operation)) return
  const { responses } = operation
  responses['421'] ??= problem('`misdirected_request`: the service does not go by the name in `Host`.')
  if (method !== 'get') {
    responses['403'] ??= problem('`cross_origin`: a browser sent the request for a page of another origin.')
  }
  responses['401'] ??= {
    ...problem('`unauthorized`: the service wants an API key, and there is none that is valid.'),
    headers: {
      'WWW-Authenticate': { schema: { type: 'string' }, description: 'Challenge for a bearer token (RFC 6750).' },
    },
  }
}

const problem = (description: string): Response => ({
  description,
  content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
})

function addCommonHeaders(operation: Operation): void {
  const headers: Record<string, Header> = {
    'X-Request-Id': {
      schema: { type: 'string' },
      description: 'Id of the request in the log: the one that it was sent with, or a new one.',
    },
  }
  if (isForCallers(operation)) {
    headers['Cache-Control'] = { schema: { type: 'string' }, description: '`private`: no shared cache may keep it.' }
  }
  for (const response of Object.values(operation.responses)) response.headers = { ...response.headers, ...headers }
}

/** A body of text is described as what it is, not as the object that it is read into. */
function describeTextBodies({ requestBody }: Operation): void {
  const content = requestBody?.content ?? {}
  if ('text/uri-list' in content) content['text/uri-list'] = { schema: URI_LIST }
}

function addExamples({ operationId, requestBody, responses }: Operation): void {
  const examples = EXAMPLES[operationId]
  for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
    setExamples(media, examples?.request?.[type])
  }
  for (const [status, { description, content = {} }] of Object.entries(responses)) {
    for (const [type, media] of Object.entries(content)) {
      if (type === PROBLEM_TYPE) media.examples = referToExamples(codesIn(description))
      else setExamples(media, examples?.responses[status]?.[type])
    }
  }
}

function setExamples(media: Media, named: Readonly<Record<string, unknown>> | undefined): void {
  if (named === undefined) return
  media.examples = Object.fromEntries(Object.entries(named).map(([name, value]) => [name, { value }]))
}

const referToExamples = (codes: readonly ErrorCode[]): Record<string, object> =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))

function problemExamples(codes: readonly ErrorCode[]): Record<string, object> {
  return Object.fromEntries(
    codes.map((code) => {
      const { detail, ...more } = PROBLEM_EXAMPLES[code]
      return [code, { value: { ...toProblem(new AppError(code, detail, more)), request_id: REQUEST_ID_EXAMPLE } }]
    }),
  )
}

/** The problem codes that a description names in backticks. */
function codesIn(description: string): ErrorCode[] {
  const words = new Set([...description.matchAll(/`([a-z_]+)`/g)].map(([, word]) => word))
  return ERROR_CODES.filter((code) => words.has(code))
}

/** A thing that stands somewhere in the document, and the name it would have among the components. */
interface Place<T> {
  readonly holder: Record<string, T> | T[]
  readonly key: string
  readonly name: string
}

function nameShared({ components }: OpenApiDocument, operations: readonly Operation[]): void {
  const responses = operations.flatMap(({ responses: holder }) =>
    Object.entries(holder).map(([key, { description }]) => ({ holder, key, name: pascal(...codesIn(description)) })),
  )
  const headers = responses.flatMap(({ holder, key }) => places(holder[key]?.headers ?? {}, (name) => name))
  const parameters = operations.flatMap(({ parameters: holder = [] }) => places(holder, (_, { name }) => name))
  components.headers = share('headers', headers)
  components.parameters = share('parameters', parameters)
  components.responses = share('responses', responses)
}

function places<T>(holder: Record<string, T> | T[], nameOf: (key: string, thing: T) => string): Place<T>[] {
  return Object.entries(holder).map(([key, thing]) => ({ holder, key, name: pascal(nameOf(key, thing)) }))
}

/** Replaces things that stand in several places, word for word, by references. A name goes to the first that wants it. */
function share<T>(kind: string, everywhere: readonly Place<T>[]): Record<string, object> {
  const at = ({ holder, key }: Place<T>) => (holder as Record<string, T>)[key]
  const texts = everywhere.map((place) => JSON.stringify(at(place)))
  const named = new Map<string, { readonly text: string; readonly thing: object }>()
  for (const [index, place] of everywhere.entries()) {
    const text = texts[index] ?? ''
    if (place.name === '' || texts.indexOf(text) === texts.lastIndexOf(text)) continue
    const owner = named.get(place.name) ?? { text, thing: at(place) as object }
    if (owner.text !== text) continue
    named.set(place.name, owner)
    Object.assign(place.holder, { [place.key]: { $ref: `#/components/${kind}/${place.name}` } })
  }
  return Object.fromEntries([...named].map(([name, { thing }]) => [name, thing]))
}

/** `job_not_found` and `X-Caller-Id` become `JobNotFound` and `XCallerId`; several are joined by `Or`. */
function pascal(...names: readonly string[]): string {
  const words = (name: string) => name.split(/[-_]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return names.map((name) => words(name).join('')).join('Or')
}
