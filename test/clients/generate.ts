// Generates what a client needs from an OpenAPI document: node generate.ts DOCUMENT FOLDER
import { readFile, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import path from 'node:path'

// The generators need the API of the compiler in JavaScript, which the one that checks the service does not have.
const typescript = import.meta.resolve('typescript')
registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? typescript : specifier, context),
})
const { createClient } = await import('@hey-api/openapi-ts')
const { default: openapiTS, astToString } = await import('openapi-typescript')

const [document = '', folder = ''] = process.argv.slice(2)
await createClient({
  input: document,
  output: { path: path.join(folder, 'hey-api'), module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'silent', file: false },
})
await writeFile(path.join(folder, 'paths.ts'), astToString(await openapiTS(await readFile(document, 'utf8'))))
