import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type Options } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'

import { type AppError, type Fault, validationFailed } from '../errors.ts'
import { parsePageRanges } from '../jobs/page-ranges.ts'
import { parseTargetUrl, URL_FAULTS } from '../jobs/target-url.ts'

const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
}

/**
 * Compiles the schemas that requests are checked with. Nothing in a body is coerced, filled in or dropped; only query
 * parameters, which are text, become the numbers they spell.
 * @param shared schemas that others refer to by `$id`.
 */
export function createValidatorCompiler(shared: readonly TSchema[]): FastifySchemaCompiler<TSchema> {
  const bodies = createAjv(OPTIONS, shared)
  const queries = createAjv({ ...OPTIONS, coerceTypes: true }, shared)
  return ({ schema, httpPart }) => {
    // A malformed id is no fault of form: it names nothing, and answers 404 like any unknown one.
    if (httpPart === 'params') return (data) => ({ value: data })
    const validate = (httpPart === 'body' ? bodies : queries).compile(schema)
    return (data) => (validate(data) ? { value: data } : { error: toError(validate.errors ?? []) })
  }
}

function createAjv(options: Options, shared: readonly TSchema[]): Ajv {
  const ajv = new Ajv(options)
  ajv.addFormat('http-url', (text: string) => 'url' in parseTargetUrl(text))
  ajv.addFormat('page-ranges', (text: string) => parsePageRanges(text) !== undefined)
  ajv.addFormat('text', isText)
  for (const language of ['jq', 're2']) ajv.addFormat(language, true) // Compiled after the validation.
  ajv.addKeyword({ keyword: 'x-unique-by', type: 'array', validate: areUnique })
  for (const name of ['uuid', 'date-time', 'uri-reference', 'json-pointer']) ajv.addFormat(name, true) // Answers only.
  ajv.addSchema([...shared])
  return ajv
}

/** Well-formed Unicode without control characters: what survives a log line and a database. */
function isText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** No two objects of the list have the same value in `field`; those without it do not count. */
function areUnique(field: string, list: readonly unknown[]): boolean {
  const values = list.flatMap((item) => {
    const value: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, field) : undefined
    return value === undefined ? [] : [value]
  })
  return new Set(values).size === values.length
}

/** One fault a place. */
function toError(errors: readonly ErrorObject[]): AppError {
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    const fault = toFault(error)
    if (!faults.has(fault.pointer)) faults.set(fault.pointer, fault)
  }
  return validationFailed([...faults.values()])
}

function toFault({ keyword, instancePath, params, message, data }: ErrorObject): Fault {
  const at = (name: unknown) => `${instancePath}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
  switch (keyword) {
    case 'additionalProperties':
      return {
        pointer: at(params.additionalProperty),
        detail: 'There is no such field; remove it or check its spelling.',
      }
    case 'required':
      return { pointer: at(params.missingProperty), detail: 'This field is missing.' }
    case 'x-unique-by':
      return { pointer: instancePath, detail: 'Each custom_id can stand only once in a job.' }
    case 'enum':
      return { pointer: instancePath, detail: `Must be one of: ${(params.allowedValues as string[]).join(', ')}.` }
    case 'format':
      return { pointer: instancePath, detail: formatDetail(String(params.format), data) }
    default:
      return { pointer: instancePath, detail: `This ${message ?? 'is not valid'}.` }
  }
}

function formatDetail(format: string, data: unknown): string {
  if (format === 'http-url') {
    const parsed = parseTargetUrl(String(data))
    return 'fault' in parsed ? URL_FAULTS[parsed.fault] : 'This is not a URL.'
  }
  if (format === 'page-ranges') return 'Write pages from 1, such as `1-3,7`, `5-` or `-2`, each range forwards.'
  return 'Must be well-formed text without control characters.'
}
