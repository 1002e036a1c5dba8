// Makes an API key for a caller: `npm run key -- NAME`. Keeps nothing: the key is shown this once.
import { createKey, digestKey, isKeyName } from '../src/api-key.ts'

const [name = '', ...rest] = process.argv.slice(2)
if (!isKeyName(name) || rest.length > 0) {
  console.error(
    'Usage: npm run key -- NAME\nNAME is the caller: 1 to 64 letters, digits, dots, dashes and underscores.',
  )
  process.exit(2)
}

const key = createKey()
console.log(`Key, for the caller alone; it is not shown again:
${key}

Entry for PAGEHAUL_API_KEYS or the file of PAGEHAUL_API_KEYS_FILE:
${name}:sha256:${digestKey(key).toString('hex')}`)
