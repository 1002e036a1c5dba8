import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'

import { resolveReferences } from '../helpers/resolve-references.ts'
import { buildService } from '../helpers/service.ts'

interface Media {
  schema: unknown
  examples?: Record<string, { value: unknown }>
}

interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: object[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, object>>
}

/** The document as it is served, and once more with its references to all but schemas resolved. */
let served: string
let document: Document
let operations: Operation[]

beforeAll(async () => {
  await using service = await buildService()
  served = (await service.app.inject('/openapi.json')).body
  document = resolveReferences(JSON.parse(served) as Document)
  operations = [document.paths, document.webhooks].flatMap((paths) => Object.values(paths).flatMap(Object.values))
})

describe('the OpenAPI document', () => {
  it('has nothing that Spectral objects to', async () => {
    const spectral = new spectralCore.Spectral()
    spectral.setRuleset({
      extends: [[oas as RulesetDefinition, 'all']],
      rules: {
        'info-contact': 'off', // Whoever runs the service is the contact, and the document does not know them.
        'license-url': 'off', // The licence has an SPDX identifier, beside which OpenAPI 3.1 allows no URL.
      },
    })
    expect(await spectral.run(served)).toEqual([])
  })

  it('has nothing that Redocly objects to', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        'operation-4xx-response': 'off', // Probes and metrics refuse nobody; the next test looks at all others.
      },
    })
    const problems = await lintFromString({ source: served, absoluteRef: 'openapi.json', config })
    expect(problems.map(({ ruleId, message, location }) => ({ ruleId, message, at: location[0]?.pointer }))).toEqual([])
  })

  it('tells for each operation of callers how it refuses them', () => {
    const forCallers = operations.filter(({ security }) => security === undefined)
    expect(forCallers.length).toBeGreaterThan(5)
    for (const { operationId, responses } of forCallers) {
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(['401', '421', '422', '500']))
    }
  })

  it('says what each operation is for', () => {
    for (const { operationId, summary, description, tags } of operations) {
      expect([summary, description].map((text) => text.length > 0)).toEqual([true, true])
      expect(tags, operationId).toHaveLength(1)
    }
  })

  it('names every object, so that no generator has to', () => {
    const nameless: string[] = []
    const walk = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return
      const isNamed = /^\/components\/schemas\/[^/]+$/.test(path)
      if ('properties' in value && 'type' in value && !isNamed) nameless.push(path)
      for (const [key, inner] of Object.entries(value)) if (key !== 'examples') walk(inner, `${path}/${key}`)
    }
    walk(JSON.parse(served), '')
    expect(nameless).toEqual([])
  })

  it('has an example for each body, and each fits its schema', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false }) // It warns of the formats of our own.
    addFormats.default(ajv)
    ajv.addSchema({ ...document, $id: 'document' })
    const bodies = operations.flatMap(({ operationId, requestBody, responses }) => [
      ...Object.entries(requestBody?.content ?? {}).map(([type, media]) => ({ at: `${operationId} ${type}`, media })),
      ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, media]) => ({ at: `${operationId} ${status} ${type}`, media })),
      ),
    ])
    for (const { at: place, media } of bodies) {
      const examples = Object.values(media.examples ?? {})
      expect(examples.length, place).toBeGreaterThan(0)
      const schema = JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"document#/')) as object
      for (const { value } of examples) expect(ajv.validate(schema, value), `${place} ${ajv.errorsText()}`).toBe(true)
    }
  })

  it('shows problems under their own status', () => {
    for (const { operationId, responses } of operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const { value } of Object.values(content['application/problem+json']?.examples ?? {})) {
          expect(value, operationId).toMatchObject({ status: Number(status) })
        }
      }
    }
  })
})
