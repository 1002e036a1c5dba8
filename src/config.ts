import path from 'node:path'
import { fileURLToPath } from 'node:url'

import { FormatRegistry, type Static, Type } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'

import { parseRange } from './ip.ts'
import { DEFAULT_LIMITS } from './jobs/limits.ts'

const PREFIX = 'PAGEHAUL_'
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

FormatRegistry.Set('database-url', (text) => text === ':memory:' || /^file:./.test(text))
FormatRegistry.Set('cidr-list', (text) => splitList(text).every((range) => parseRange(range) !== undefined))
FormatRegistry.Set('port-list', (text) => text === '*' || splitList(text).every(isPort))

/** A cap or a lease: zero means the default. */
const limit = (value: number, description: string) =>
  Type.Integer({
    default: value,
    minimum: 0,
    maximum: 1_000_000_000,
    description: `${description} 0 means the default.`,
  })

/** Every setting. `.env.example` lists the same names and defaults; a test holds the two together. */
export const ConfigSchema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address to listen on.' }),
  PORT: Type.Integer({
    default: 8080,
    minimum: 0,
    maximum: 65_535,
    description: 'Port to listen on. 0 picks a free one and logs it.',
  }),
  DATABASE_URL: Type.String({
    default: 'file:./data/pagehaul.db',
    format: 'database-url',
    description: 'Where jobs are kept: `file:` and a path whose folder exists, or `:memory:`.',
  }),
  LOG_LEVEL: Type.Union(
    LOG_LEVELS.map((level) => Type.Literal(level)),
    {
      default: 'info',
      description: 'Least severe level that is logged.',
    },
  ),
  PAGEHAUL_JOB_TTL_S: limit(DEFAULT_LIMITS.leaseMs / 1_000, 'Seconds that a job is kept after its last outcome.'),
  PAGEHAUL_TARGETS_PER_JOB: limit(DEFAULT_LIMITS.targetsPerJobMax, 'Targets in one job.'),
  PAGEHAUL_JOBS_PER_CALLER: limit(DEFAULT_LIMITS.jobsPerCallerMax, 'Live jobs of one caller.'),
  PAGEHAUL_JOBS_TOTAL: limit(DEFAULT_LIMITS.jobsTotalMax, 'Live jobs in all.'),
  PAGEHAUL_STORE_BYTES_MAX: Type.Integer({
    default: 0,
    minimum: 0,
    description: 'Largest size of the database file in bytes. A full one takes no new jobs. 0 means no limit.',
  }),
  PAGEHAUL_TARGET_TIMEOUT_MS: Type.Integer({
    default: 60_000,
    minimum: 1,
    maximum: 3_600_000,
    description: 'Milliseconds for one target in all, from the look-up of its host to its content.',
  }),
  PAGEHAUL_FETCH_BYTES_MAX: Type.Integer({
    default: 26_214_400,
    minimum: 1,
    maximum: 1_073_741_824,
    description: 'Largest decoded body in bytes. A larger one fails its target.',
  }),
  PAGEHAUL_CONTENT_BYTES_MAX: Type.Integer({
    default: 5_242_880,
    minimum: 1,
    maximum: 104_857_600,
    description: 'Largest content kept for a target in bytes. More is cut off and flagged.',
  }),
  PAGEHAUL_GUARD_ALLOW: Type.String({
    default: '',
    format: 'cidr-list',
    description: 'Ranges that may be fetched although they are not public, such as `10.1.0.0/16,fd00::/8`.',
  }),
  PAGEHAUL_GUARD_PORTS: Type.String({
    default: '80,443,8080,8443',
    format: 'port-list',
    description: 'Ports that may be fetched from. `*` means all but those that browsers refuse.',
  }),
  PAGEHAUL_USER_AGENT: Type.String({
    default: '',
    maxLength: 256,
    pattern: '^[\\x20-\\x7e]*$',
    description: 'What requests say they come from. Empty means `pagehaul/` and the version.',
  }),
})

type Settings = Static<typeof ConfigSchema>

export interface Config extends Readonly<
  Omit<Settings, 'DATABASE_URL' | 'PAGEHAUL_GUARD_ALLOW' | 'PAGEHAUL_GUARD_PORTS'>
> {
  /** Path of the database, or `:memory:`. */
  readonly databaseFile: string
  readonly guardAllow: readonly string[]
  readonly guardPorts: ReadonlySet<number> | '*'
}

/** `message` names every wrong variable, so that one run shows them all. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Reads the settings once, at start-up. Only `main.ts` passes it `process.env`.
 * @throws {ConfigError}
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  // An empty variable counts as unset: that is what `KEY=` in an env file means to its author.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const candidate = Value.Convert(ConfigSchema, Value.Default(ConfigSchema, Value.Clean(ConfigSchema, { ...set })))
  const misspelt = Object.keys(set)
    .filter((name) => name.startsWith(PREFIX) && !(name in ConfigSchema.properties))
    .map((name) => `${name}: there is no such setting; .env.example lists all`)
  const wrong = [...Value.Errors(ConfigSchema, candidate)].map((error) => {
    const name = error.path.slice(1)
    return `${name}: ${explain(error)}, got ${JSON.stringify(set[name])}`
  })
  const faults = [...misspelt, ...new Set(wrong)]
  if (faults.length > 0) throw new ConfigError(`The settings are not valid:\n  ${faults.join('\n  ')}`)
  const { DATABASE_URL, PAGEHAUL_GUARD_ALLOW, PAGEHAUL_GUARD_PORTS, ...settings } = Value.Decode(
    ConfigSchema,
    candidate,
  )
  return Object.freeze({
    ...settings,
    databaseFile: toPath(DATABASE_URL),
    guardAllow: splitList(PAGEHAUL_GUARD_ALLOW),
    guardPorts: PAGEHAUL_GUARD_PORTS === '*' ? '*' : new Set(splitList(PAGEHAUL_GUARD_PORTS).map(Number)),
  })
}

const FORMATS: Readonly<Record<string, string>> = {
  'database-url': 'must be `file:` and a path, or `:memory:`',
  'cidr-list': 'must be CIDR ranges such as 10.1.0.0/16, separated by commas',
  'port-list': 'must be ports from 1 to 65535, separated by commas, or `*`',
}

function explain({ message, schema }: ValueError): string {
  if ('anyOf' in schema) return `must be one of ${LOG_LEVELS.join(', ')}`
  const format: unknown = schema.format
  return (typeof format === 'string' && FORMATS[format]) || message.charAt(0).toLowerCase() + message.slice(1)
}

function toPath(url: string): string {
  if (url === ':memory:') return url
  return url.startsWith('file://') ? fileURLToPath(url) : path.normalize(url.slice('file:'.length))
}

function splitList(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535
}
