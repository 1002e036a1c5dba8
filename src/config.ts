import path from 'node:path'
import { fileURLToPath } from 'node:url'

import { FormatRegistry, type Static, type TLiteral, type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError } from '@sinclair/typebox/value'

import { isInRange, parseIp, parseRange } from './ip.ts'
import { DEFAULT_LIMITS } from './jobs/limits.ts'
import { parseWebhookSecret } from './jobs/webhook-signature.ts'
import { readKeySettings } from './key-settings.ts'

const PREFIX = 'PAGEHAUL_'
/** Settings that no message repeats. */
const SECRETS = new Set(['PAGEHAUL_EGRESS_PROXY', 'PAGEHAUL_LLM_API_KEY', 'PAGEHAUL_WEBHOOK_SECRET'])
const LOOPBACK = ['127.0.0.0/8', '::1/128'].flatMap((range) => parseRange(range) ?? [])
/** What a database without jobs takes, and then some: less would be called a full disk. */
const STORE_BYTES_MIN = 1_048_576
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

FormatRegistry.Set('database-url', isDatabaseUrl)
FormatRegistry.Set('cidr-list', (text) => splitList(text).every((range) => parseRange(range) !== undefined))
FormatRegistry.Set('host-list', (text) => text === '*' || splitList(text).every(isHostName))
FormatRegistry.Set('web-url', (text) => text === '' || isWebUrl(text))
FormatRegistry.Set('proxy-url', (text) => text === '' || isProxyUrl(text))
FormatRegistry.Set('webhook-secrets', (text) => splitList(text).every((item) => parseWebhookSecret(item) !== undefined))
FormatRegistry.Set('port-list', (text) => text === '*' || isPortList(splitList(text)))

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
  PAGEHAUL_API_KEYS: Type.String({
    default: '',
    description:
      'Who may use the service: `name:sha256:hex` or `name:key`, separated by commas, each with `;expires=2030-01-31T00:00:00Z` if need be. `npm run key -- NAME` makes a key. Empty means everyone who reaches it.',
  }),
  PAGEHAUL_API_KEYS_FILE: Type.String({
    default: '',
    description: 'Path of a file with more of them, one a line, with `#` comments.',
  }),
  PAGEHAUL_TRUST_PROXY: Type.String({
    default: '',
    format: 'cidr-list',
    description:
      'Ranges of proxies whose `X-Forwarded-For` tells the address of the client, which without keys names the caller.',
  }),
  PAGEHAUL_ALLOWED_HOSTS: Type.String({
    default: '',
    format: 'host-list',
    description:
      'Names that the service goes by without keys, such as `pagehaul,pagehaul.example.com`, beside its addresses and `localhost`. `*` means any.',
  }),
  PAGEHAUL_DOCS: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    description: 'Whether `/docs` shows the API to browsers: `on` or `off`.',
  }),
  PAGEHAUL_JOB_TTL_S: limit(DEFAULT_LIMITS.leaseMs / 1_000, 'Seconds that a job is kept after its last outcome.'),
  PAGEHAUL_TARGETS_PER_JOB: limit(DEFAULT_LIMITS.targetsPerJobMax, 'Targets in one job.'),
  PAGEHAUL_JOBS_PER_CALLER: limit(DEFAULT_LIMITS.jobsPerCallerMax, 'Live jobs of one caller.'),
  PAGEHAUL_JOBS_TOTAL: limit(DEFAULT_LIMITS.jobsTotalMax, 'Live jobs in all.'),
  PAGEHAUL_STORE_BYTES_MAX: Type.Integer({
    default: 0,
    minimum: 0,
    description:
      'Largest size of the database file in bytes, at least 1048576. A full one takes no new jobs, and contents fail with no_room. 0 means no limit.',
  }),
  PAGEHAUL_TARGET_TIMEOUT_MS: Type.Integer({
    default: 60_000,
    minimum: 3_000, // One second is kept for the end, and a child process may have to start.
    maximum: 3_600_000,
    description: 'Milliseconds for one target in all, from the look-up of its host to its content, at least 3000.',
  }),
  PAGEHAUL_FETCH_BYTES_MAX: Type.Integer({
    default: 26_214_400,
    minimum: 1_024,
    maximum: 1_073_741_824,
    description: 'Largest decoded body in bytes. A larger one fails its target.',
  }),
  PAGEHAUL_CONTENT_BYTES_MAX: Type.Integer({
    default: 5_242_880,
    minimum: 1_024,
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
  PAGEHAUL_GUARD_NAT64: Type.Union([Type.Literal('deny'), Type.Literal('allow')], {
    default: 'deny',
    description:
      'What becomes of addresses in `64:ff9b::/96`, by which a network of IPv6 alone reaches IPv4. `allow` judges each as the IPv4 address inside it.',
  }),
  PAGEHAUL_EGRESS_PROXY: Type.String({
    default: '',
    format: 'proxy-url',
    description:
      'HTTP proxy that everything but the model is fetched through, such as `http://user:password@proxy.example.com:3128`. No other variable sets one.',
  }),
  PAGEHAUL_HOST_GAP_MS: Type.Integer({
    default: 1_000,
    minimum: 0,
    maximum: 60_000,
    description: 'Milliseconds between two requests to one host, over all jobs. One request at a time goes to each.',
  }),
  PAGEHAUL_USER_AGENT: Type.String({
    default: '',
    maxLength: 256,
    pattern: '^[\\x20-\\x7e]*$',
    description: 'What requests say they come from. Empty means `pagehaul/` and the version.',
  }),
  PAGEHAUL_ROBOTS: Type.Union([Type.Literal('ignore'), Type.Literal('obey')], {
    default: 'ignore',
    description: 'Whether pages are left alone that the `robots.txt` of their site disallows: `ignore` or `obey`.',
  }),
  PAGEHAUL_ARCHIVE_URL: Type.String({
    default: 'https://web.archive.org',
    format: 'web-url',
    description: 'Web archive that `recover` asks. It speaks as the Wayback Machine does.',
  }),
  PAGEHAUL_LLM_BASE_URL: Type.String({
    default: '',
    format: 'web-url',
    description:
      'OpenAI-compatible API for `question`, such as `http://127.0.0.1:11434/v1`. Empty means that passages are quoted instead.',
  }),
  PAGEHAUL_LLM_MODEL: Type.String({ default: '', maxLength: 256, description: 'Name of the model at that API.' }),
  PAGEHAUL_LLM_API_KEY: Type.String({
    default: '',
    maxLength: 1_024,
    pattern: '^[\\x21-\\x7e]*$',
    description: 'Key for that API, if it needs one.',
  }),
  PAGEHAUL_WEBHOOK_SECRET: Type.String({
    default: '',
    format: 'webhook-secrets',
    description:
      'What webhooks are signed with: `whsec_` and 24 to 64 random bytes in Base64. Several, separated by commas, all sign, so that receivers can change over. Empty means that no job can have a webhook.',
  }),
  PAGEHAUL_PUBLIC_URL: Type.String({
    default: '',
    format: 'web-url',
    description: 'Where callers reach the service, for links in webhooks. Empty means that those are paths.',
  }),
})

/** The settings, and in place of those that are more than a number or a word, what they mean. */
export type Config = ReturnType<typeof loadConfig>

/** `message` names every wrong variable, so that one run shows them all. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Reads the settings once, at start-up. Only `main.ts` passes it `process.env`.
 * @throws {ConfigError}
 */
export function loadConfig(env: NodeJS.ProcessEnv) {
  // An empty variable counts as unset: that is what `KEY=` in an env file means to its author.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const candidate = Value.Default(ConfigSchema, Value.Clean(ConfigSchema, withNumbers(set)))
  const misspelt = Object.keys(set)
    .filter((name) => name.startsWith(PREFIX) && !(name in ConfigSchema.properties))
    .map((name) => `${name}: there is no such setting; .env.example lists all`)
  const wrong = [...Value.Errors(ConfigSchema, candidate)].map((error) => {
    const name = error.path.slice(1)
    const got = SECRETS.has(name) || set[name]?.includes('@') ? '' : `, got ${JSON.stringify(set[name])}`
    return `${name}: ${explain(error)}${got}`
  })
  const keys = readKeySettings(set.PAGEHAUL_API_KEYS, set.PAGEHAUL_API_KEYS_FILE)
  const faults = [...misspelt, ...new Set(wrong), ...storeFaults(set), ...modelFaults(set), ...keys.faults]
  if (faults.length > 0) throw new ConfigError(`The settings are not valid:\n  ${faults.join('\n  ')}`)
  const {
    DATABASE_URL,
    PAGEHAUL_API_KEYS: _list,
    PAGEHAUL_API_KEYS_FILE: _file,
    PAGEHAUL_TRUST_PROXY,
    PAGEHAUL_ALLOWED_HOSTS,
    PAGEHAUL_GUARD_ALLOW,
    PAGEHAUL_GUARD_PORTS,
    PAGEHAUL_EGRESS_PROXY,
    PAGEHAUL_WEBHOOK_SECRET,
    PAGEHAUL_PUBLIC_URL,
    ...settings
  } = candidate as Static<typeof ConfigSchema>
  const hasKeys = keys.keys.length > 0
  return Object.freeze({
    ...settings,
    /** Path of the database, or `:memory:`. */
    databaseFile: toPath(DATABASE_URL),
    /** If there are none, everyone may use the service. */
    apiKeys: keys.keys,
    trustedProxies: splitList(PAGEHAUL_TRUST_PROXY).flatMap((range) => parseRange(range) ?? []),
    /** In lower case; `*` for any. */
    allowedHosts:
      PAGEHAUL_ALLOWED_HOSTS === '*' || hasKeys ? '*' : hostNames(PAGEHAUL_ALLOWED_HOSTS, PAGEHAUL_PUBLIC_URL),
    guardAllow: splitList(PAGEHAUL_GUARD_ALLOW),
    guardPorts: PAGEHAUL_GUARD_PORTS === '*' ? '*' : new Set(splitList(PAGEHAUL_GUARD_PORTS).map(Number)),
    /** With its credentials, which no message repeats. */
    egressProxy: PAGEHAUL_EGRESS_PROXY || undefined,
    /** Each signs every webhook. If there are none, no job can have one. */
    webhookSecrets: splitList(PAGEHAUL_WEBHOOK_SECRET).flatMap((secret) => parseWebhookSecret(secret) ?? []),
    publicUrl: PAGEHAUL_PUBLIC_URL || undefined,
    /** What is allowed and had better be otherwise, for the log. */
    warnings: [
      ...(hasKeys || isLoopback(settings.HOST) ? [] : [OPEN_TO_ALL]),
      ...(keys.isExposed ? [KEYS_EXPOSED] : []),
      ...(settings.PAGEHAUL_HOST_GAP_MS * 4 > settings.PAGEHAUL_TARGET_TIMEOUT_MS ? [GAP_TOO_WIDE] : []),
      ...(PAGEHAUL_EGRESS_PROXY === '' && Object.keys(set).some(isProxyName) ? [PROXY_IGNORED] : []),
    ],
  })
}

const OPEN_TO_ALL =
  'HOST is no loopback address and there are no API keys: whoever reaches it can fetch through this machine, and read and cancel the jobs of others; set PAGEHAUL_API_KEYS'
const KEYS_EXPOSED =
  'PAGEHAUL_API_KEYS_FILE holds keys that every user of this machine can read: take that right from others, or keep only `sha256:` entries in it'
const PROXY_IGNORED =
  'a proxy is set for programs in general, which changes nothing here; PAGEHAUL_EGRESS_PROXY sets one for what is fetched'

const GAP_TOO_WIDE =
  'PAGEHAUL_HOST_GAP_MS is more than a quarter of PAGEHAUL_TARGET_TIMEOUT_MS: a page behind a redirect, or one of several of a host, may get no turn in time'

const isProxyName = (name: string) => /^(?:https?|all)_proxy$/i.test(name)

/** Whole numbers in digits become numbers; `1e3`, `0x10` and `1.9` stay the text that they are, and so are wrong. */
function withNumbers(set: NodeJS.ProcessEnv): Record<string, unknown> {
  const isNumber = (name: string) => (ConfigSchema.properties as Record<string, TSchema>)[name]?.type === 'integer'
  const entries = Object.entries(set).map(([name, text = '']) => [
    name,
    isNumber(name) && /^-?\d{1,15}$/.test(text) ? Number(text) : text,
  ])
  return Object.fromEntries(entries) as Record<string, unknown>
}

/** Zero means no limit, so that the schema has no least value. */
function storeFaults({ PAGEHAUL_STORE_BYTES_MAX: bytesMax }: NodeJS.ProcessEnv): string[] {
  const isTooSmall = Number(bytesMax) > 0 && Number(bytesMax) < STORE_BYTES_MIN
  return isTooSmall ? [`PAGEHAUL_STORE_BYTES_MAX: must be 0 or at least ${STORE_BYTES_MIN}, got "${bytesMax}"`] : []
}

/** A model needs both its API and its name. */
function modelFaults({ PAGEHAUL_LLM_BASE_URL: url, PAGEHAUL_LLM_MODEL: model }: NodeJS.ProcessEnv): string[] {
  if ((url === undefined) === (model === undefined)) return []
  const [missing, given] = url === undefined ? ['BASE_URL', 'MODEL'] : ['MODEL', 'BASE_URL']
  return [`PAGEHAUL_LLM_${missing}: must be set, too, where PAGEHAUL_LLM_${given} is`]
}

const FORMATS: Readonly<Record<string, string>> = {
  'database-url':
    'must be `file:` and a path, such as `file:./data/jobs.db` or `file:///data/jobs.db`, without `?` and `#`, or `:memory:`',
  'cidr-list': 'must be CIDR ranges such as 10.1.0.0/16, separated by commas',
  'host-list': 'must be host names without ports, separated by commas, or `*`',
  'web-url': 'must be an http or https URL without credentials',
  'proxy-url': 'must be an http URL of a host alone, such as http://user:password@proxy.example.com:3128',
  'webhook-secrets': 'must be `whsec_` and 24 to 64 bytes in Base64; several are separated by commas',
  'port-list': 'must be ports from 1 to 65535, separated by commas, or `*`',
}

function explain({ message, schema }: ValueError): string {
  if (schema.anyOf) return `must be one of ${(schema.anyOf as TLiteral[]).map((choice) => choice.const).join(', ')}`
  const format: unknown = schema.format
  return (typeof format === 'string' && FORMATS[format]) || message.charAt(0).toLowerCase() + message.slice(1)
}

function isDatabaseUrl(text: string): boolean {
  try {
    return text === ':memory:' || (/^file:[^?#]+$/.test(text) && toPath(text) !== '.')
  } catch {
    return false // A URL with two slashes names a host.
  }
}

/** Without white space around it, which is no part of a name to the driver of the database. */
function toPath(url: string): string {
  if (url === ':memory:') return url
  return url.startsWith('file://') ? fileURLToPath(url).trim() : path.normalize(url.slice('file:'.length).trim())
}

function splitList(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** Basic authentication has no user names with a colon. */
function isProxyUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'http:' || url.pathname + url.search + url.hash !== '/') return false
  return percentDecoded(url.username)?.includes(':') === false && percentDecoded(url.password) !== undefined
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** In lower case; the public URL names the service, too. */
function hostNames(list: string, publicUrl: string): string[] {
  const names = splitList(list.toLowerCase())
  return publicUrl === '' ? names : [...names, new URL(publicUrl).hostname]
}

function isHostName(text: string): boolean {
  return /^[\w-]+(?:\.[\w-]+)*$/.test(text)
}

function isLoopback(host: string): boolean {
  const ip = parseIp(host)
  return host === 'localhost' || (ip !== undefined && LOOPBACK.some((range) => isInRange(ip, range)))
}

function isPortList(items: readonly string[]): boolean {
  return items.length > 0 && items.every(isPort)
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535
}
