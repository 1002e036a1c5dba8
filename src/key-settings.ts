import { readFileSync, statSync } from 'node:fs'

import { type ApiKey, digestKey, isKeyName, isWellFormedKey } from './api-key.ts'

/** Every request is compared with all of them. */
const KEYS_MAX = 1_000
const DIGEST = /^sha256:([0-9a-f]{64})$/i
const EXPIRY = /^expires=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))$/
const OTHERS_READ = 0o004

/** API keys as the settings have them. No fault repeats any of what was read, which may be a key. */
export interface KeySettings {
  readonly keys: readonly ApiKey[]
  /** Each begins with the name of its setting. */
  readonly faults: readonly string[]
  /** Whether the file has keys in clear that all users of the machine can read. */
  readonly isExposed: boolean
}

/**
 * Reads `name:key` and `name:sha256:hex` entries, each with `;expires=` and a time of RFC 3339 after it if need be.
 * @param list separated by commas or new lines.
 * @param file path of a file with one entry a line and `#` comments.
 */
export function readKeySettings(list: string | undefined, file: string | undefined): KeySettings {
  const fromList = list === undefined ? NOTHING : readEntries('PAGEHAUL_API_KEYS: entry', list.split(/[,\n]/))
  const fromFile = file === undefined ? NOTHING : readFile('PAGEHAUL_API_KEYS_FILE', file)
  const keys = [...fromList.keys, ...fromFile.keys]
  const digests = new Set(keys.map(({ digest }) => digest.toString('hex')))
  const faults = [...fromList.faults, ...fromFile.faults]
  if (digests.size < keys.length) faults.push('PAGEHAUL_API_KEYS: the same key stands twice')
  if (keys.length > KEYS_MAX) faults.push(`PAGEHAUL_API_KEYS: there are more than ${KEYS_MAX} keys`)
  return { keys, faults, isExposed: fromFile.hasClear && isReadByOthers(file) }
}

interface Entries {
  readonly keys: readonly ApiKey[]
  readonly faults: readonly string[]
  readonly hasClear: boolean
}
const NOTHING: Entries = { keys: [], faults: [], hasClear: false }

function readFile(setting: string, file: string): Entries {
  try {
    const lines = readFileSync(file, 'utf8')
      .replace(/^\ufeff/, '')
      .split('\n')
    return readEntries(
      `${setting}: line`,
      lines.map((line) => line.replace(/#.*/, '')),
    )
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'an error'
    return { ...NOTHING, faults: [`${setting}: cannot be read (${reason})`] }
  }
}

/** @param place what the number of an entry is put after. A setting without keys is a fault: it must not open the service. */
function readEntries(place: string, entries: readonly string[]): Entries {
  const read = entries.flatMap((entry, index) =>
    entry.trim() === '' ? [] : { ...parseEntry(entry.trim()), place: `${place} ${index + 1}` },
  )
  if (read.length === 0) return { ...NOTHING, faults: [`${place.split(':', 1).join('')}: there is no key in it`] }
  return {
    keys: read.flatMap((entry) => ('key' in entry ? entry.key : [])),
    faults: read.flatMap((entry) => ('fault' in entry ? `${entry.place}: ${entry.fault}` : [])),
    hasClear: read.some((entry) => 'key' in entry && entry.isClear),
  }
}

function parseEntry(entry: string): { key: ApiKey; isClear: boolean } | { fault: string } {
  const [pair = '', expiry, ...rest] = entry.split(';').map((part) => part.trim())
  const [, name = '', secret = ''] = /^([^:]*):(.*)$/.exec(pair) ?? []
  if (!isKeyName(name)) {
    return { fault: 'must begin with a name of 1 to 64 letters, digits, dots, dashes and underscores, and a colon' }
  }
  const hex = DIGEST.exec(secret)?.[1]
  if (hex === undefined && !isWellFormedKey(secret)) {
    return { fault: 'must have a key made by `npm run key`, or `sha256:` and 64 hexadecimal digits, after the name' }
  }
  const expiresAt = expiry === undefined ? undefined : Date.parse(EXPIRY.exec(expiry)?.[1] ?? '')
  if (Number.isNaN(expiresAt) || rest.length > 0) {
    return { fault: 'can end in `;expires=` and a time such as 2030-01-31T00:00:00Z, and in nothing else' }
  }
  const digest = hex === undefined ? digestKey(secret) : Buffer.from(hex, 'hex')
  return { key: { name, digest, expiresAt }, isClear: hex === undefined }
}

function isReadByOthers(file = ''): boolean {
  const stats = statSync(file)
  return stats.isFile() && (stats.mode & OTHERS_READ) !== 0
}
