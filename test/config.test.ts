import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'

import { describe, expect, it } from 'vitest'

import { createKey, digestKey } from '../src/api-key.ts'
import { ConfigError, ConfigSchema, loadConfig } from '../src/config.ts'
import { DEFAULT_LIMITS, withDefaults } from '../src/jobs/limits.ts'
import { tempFolder } from './helpers/temp-folder.ts'

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 's').toString('base64')}`

function faultsOf(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  throw new Error('the settings were taken')
}

describe('loadConfig', () => {
  it('has a default for every setting', () => {
    expect(loadConfig({})).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      LOG_LEVEL: 'info',
      databaseFile: 'data/pagehaul.db',
      PAGEHAUL_DOCS: 'on',
      PAGEHAUL_JOB_TTL_S: 86_400,
      PAGEHAUL_TARGETS_PER_JOB: 32,
      PAGEHAUL_JOBS_PER_CALLER: 1,
      PAGEHAUL_JOBS_TOTAL: 8,
      PAGEHAUL_TARGET_TIMEOUT_MS: 60_000,
      PAGEHAUL_FETCH_BYTES_MAX: 26_214_400,
      PAGEHAUL_CONTENT_BYTES_MAX: 5_242_880,
      guardAllow: [],
      guardPorts: new Set([80, 443, 8080, 8443]),
    })
  })

  it('takes an empty variable for one that is not set', () => {
    expect(loadConfig({ PORT: '', HOST: '', PAGEHAUL_GUARD_PORTS: '' })).toEqual(loadConfig({}))
  })

  it('reads numbers, paths and lists', () => {
    const config = loadConfig({
      PORT: '0',
      DATABASE_URL: 'file:///var/lib/jobs.db',
      PAGEHAUL_GUARD_ALLOW: '10.1.0.0/16, fd00::/8',
      PAGEHAUL_GUARD_PORTS: '*',
    })
    expect(config).toMatchObject({
      PORT: 0,
      databaseFile: '/var/lib/jobs.db',
      guardAllow: ['10.1.0.0/16', 'fd00::/8'],
      guardPorts: '*',
    })
    expect(loadConfig({ DATABASE_URL: ':memory:' }).databaseFile).toBe(':memory:')
    expect(loadConfig({ DATABASE_URL: 'file:jobs.db' }).databaseFile).toBe('jobs.db')
    expect(loadConfig({ DATABASE_URL: 'file: /data/jobs.db ' }).databaseFile).toBe('/data/jobs.db')
  })

  it('names every wrong variable at once, with what it got', () => {
    const message = faultsOf({
      PORT: 'http',
      LOG_LEVEL: 'loud',
      PAGEHAUL_DOCS: 'yes',
      DATABASE_URL: 'postgres://x',
      PAGEHAUL_JOB_TTL_S: '-1',
    })
    for (const fault of [
      'PORT: ',
      'LOG_LEVEL: must be one of fatal',
      'PAGEHAUL_DOCS: must be one of on, off, got "yes"',
      'DATABASE_URL: must be `file:`',
      '"postgres://x"',
      'PAGEHAUL_JOB_TTL_S: ',
    ]) {
      expect(message).toContain(fault)
    }
  })

  it.each([
    ['PAGEHAUL_GUARD_ALLOW', '10.1.0.0'],
    ['PAGEHAUL_GUARD_ALLOW', '10.1.0.0/33'],
    ['PAGEHAUL_GUARD_ALLOW', 'localhost/8'],
    ['PAGEHAUL_GUARD_ALLOW', 'fe80::1%eth0/64'],
    ['PAGEHAUL_GUARD_PORTS', '80,http'],
    ['PAGEHAUL_GUARD_PORTS', '70000'],
    ['PAGEHAUL_GUARD_PORTS', ','],
    ['PAGEHAUL_GUARD_NAT64', 'yes'],
    ['PAGEHAUL_EGRESS_PROXY', 'proxy.example.com:3128'],
    ['PAGEHAUL_EGRESS_PROXY', 'https://proxy.example.com'],
    ['PAGEHAUL_EGRESS_PROXY', 'socks5://proxy.example.com:1080'],
    ['PAGEHAUL_EGRESS_PROXY', 'http://proxy.example.com/path'],
    ['PAGEHAUL_EGRESS_PROXY', 'http://proxy.example.com?x'],
    ['PAGEHAUL_EGRESS_PROXY', 'http://name%3A:word@proxy.example.com'],
    ['PAGEHAUL_EGRESS_PROXY', 'http://name:%ff@proxy.example.com'],
    ['PAGEHAUL_EGRESS_PROXY', 'http://name:%@proxy.example.com'],
    ['PAGEHAUL_USER_AGENT', 'a\r\nb'],
    ['PAGEHAUL_TARGET_TIMEOUT_MS', '0'],
    ['PAGEHAUL_TARGET_TIMEOUT_MS', '2999'],
    ['PAGEHAUL_FETCH_BYTES_MAX', '1023'],
    ['PAGEHAUL_CONTENT_BYTES_MAX', '1023'],
    ['PORT', '65536'],
    ['PAGEHAUL_HOST_GAP_MS', '1e3'],
    ['PAGEHAUL_HOST_GAP_MS', '0x10'],
    ['PAGEHAUL_HOST_GAP_MS', '1.9'],
    ['PAGEHAUL_HOST_GAP_MS', '60001'],
    ['PAGEHAUL_STORE_BYTES_MAX', '99999999999999999999'],
    ['PAGEHAUL_STORE_BYTES_MAX', '1'],
    ['PAGEHAUL_STORE_BYTES_MAX', '1048575'],
    ['DATABASE_URL', 'data/jobs.db'],
    ['DATABASE_URL', 'file:'],
    ['DATABASE_URL', 'file: '],
    ['DATABASE_URL', 'file://data/jobs.db'],
    ['DATABASE_URL', 'file:data/jobs.db?mode=ro'],
    ['DATABASE_URL', 'file:///data/jobs.db?mode=ro'],
    ['DATABASE_URL', 'file:data/jobs.db#1'],
    ['PAGEHAUL_WEBHOOK_SECRET', 'whsec_'],
    ['PAGEHAUL_WEBHOOK_SECRET', `${WEBHOOK_SECRET},x`],
    ['PAGEHAUL_PUBLIC_URL', 'pagehaul.example.com'],
    ['PAGEHAUL_PUBLIC_URL', 'https://user:password@pagehaul.example.com'],
  ])('refuses %s=%j', (name, value) => {
    expect(faultsOf({ [name]: value })).toContain(`${name}: `)
  })

  it('takes the least of each setting that has to leave room for something', () => {
    const least = {
      PAGEHAUL_TARGET_TIMEOUT_MS: 3_000,
      PAGEHAUL_FETCH_BYTES_MAX: 1_024,
      PAGEHAUL_CONTENT_BYTES_MAX: 1_024,
      PAGEHAUL_STORE_BYTES_MAX: 1_048_576,
    }
    const env = Object.fromEntries(Object.entries(least).map(([name, value]) => [name, String(value)]))
    expect(loadConfig(env)).toMatchObject(least)
  })

  it('refuses a name that it does not know', () => {
    expect(faultsOf({ PAGEHAUL_JOB_TTL: '60' })).toContain('PAGEHAUL_JOB_TTL: there is no such setting')
  })

  it('reads the secrets of webhooks, and tells none', () => {
    const { webhookSecrets } = loadConfig({ PAGEHAUL_WEBHOOK_SECRET: `${WEBHOOK_SECRET}, ${WEBHOOK_SECRET}` })
    expect(webhookSecrets.map((secret) => Buffer.from(secret).toString())).toEqual(['s'.repeat(32), 's'.repeat(32)])
    expect(loadConfig({}).webhookSecrets).toEqual([])
    expect(faultsOf({ PAGEHAUL_WEBHOOK_SECRET: `${WEBHOOK_SECRET}x` })).not.toContain(WEBHOOK_SECRET)
  })

  it('reads the egress proxy, and never tells its credentials', () => {
    const proxy = 'http://name:p%40ssword@proxy.example.com:3128'
    expect(loadConfig({ PAGEHAUL_EGRESS_PROXY: proxy }).egressProxy).toBe(proxy)
    expect(loadConfig({}).egressProxy).toBeUndefined()
    expect(faultsOf({ PAGEHAUL_EGRESS_PROXY: `${proxy}/path` })).not.toContain('p%40ssword')
  })

  it('warns of a gap between requests that leaves a target no time for several', () => {
    expect(loadConfig({ PAGEHAUL_HOST_GAP_MS: '20000' }).warnings).toEqual([
      expect.stringContaining('more than a quarter of PAGEHAUL_TARGET_TIMEOUT_MS'),
    ])
    expect(loadConfig({ PAGEHAUL_HOST_GAP_MS: '15000' }).warnings).toEqual([])
  })

  it.each(['HTTP_PROXY', 'https_proxy', 'ALL_PROXY'])('warns that %s changes nothing', (name) => {
    const env = { [name]: 'http://127.0.0.1:3128' }
    expect(loadConfig(env).warnings).toEqual([expect.stringContaining('PAGEHAUL_EGRESS_PROXY')])
    expect(loadConfig({ ...env, PAGEHAUL_EGRESS_PROXY: 'http://127.0.0.1:3129' }).warnings).toEqual([])
  })

  it('lets zero mean the default of each cap and of the lease', () => {
    const config = loadConfig({
      PAGEHAUL_JOB_TTL_S: '0',
      PAGEHAUL_TARGETS_PER_JOB: '0',
      PAGEHAUL_JOBS_PER_CALLER: '0',
      PAGEHAUL_JOBS_TOTAL: '0',
    })
    const limits = withDefaults({
      leaseMs: config.PAGEHAUL_JOB_TTL_S * 1_000,
      targetsPerJobMax: config.PAGEHAUL_TARGETS_PER_JOB,
      jobsPerCallerMax: config.PAGEHAUL_JOBS_PER_CALLER,
      jobsTotalMax: config.PAGEHAUL_JOBS_TOTAL,
    })
    expect(limits).toEqual(DEFAULT_LIMITS)
    expect(limits).toEqual({ leaseMs: 86_400_000, targetsPerJobMax: 32, jobsPerCallerMax: 1, jobsTotalMax: 8 })
  })
})

describe('who may use the service', () => {
  const key = createKey()
  const hex = digestKey(key).toString('hex')

  it('is everyone under its own names unless there are keys', () => {
    expect(loadConfig({})).toMatchObject({ apiKeys: [], trustedProxies: [], allowedHosts: [], warnings: [] })
    expect(
      loadConfig({
        PAGEHAUL_ALLOWED_HOSTS: 'Pagehaul, fetch.example.com',
        PAGEHAUL_PUBLIC_URL: 'https://Public.example:8443/x',
        PAGEHAUL_TRUST_PROXY: '10.0.0.0/8',
      }),
    ).toMatchObject({
      allowedHosts: ['pagehaul', 'fetch.example.com', 'public.example'],
      trustedProxies: [{ family: 4, length: 8 }],
    })
    expect(loadConfig({ PAGEHAUL_ALLOWED_HOSTS: '*' }).allowedHosts).toBe('*')
  })

  it('is who has a key if there are any, under whatever name', () => {
    const config = loadConfig({ PAGEHAUL_API_KEYS: `alice:sha256:${hex}`, PAGEHAUL_ALLOWED_HOSTS: 'pagehaul' })
    expect(config.apiKeys).toEqual([{ name: 'alice', digest: digestKey(key), expiresAt: undefined }])
    expect(config.allowedHosts).toBe('*')
  })

  it('never has a key in clear in the settings or in a fault of them', () => {
    const config = loadConfig({ PAGEHAUL_API_KEYS: `alice:${key}` })
    expect(inspect(config, { depth: 9 })).not.toContain(key)
    const faults = faultsOf({ PAGEHAUL_API_KEYS: `alice:${key};x,${key}`, PORT: 'x', PAGEHAUL_API_KEYS_FILE: key })
    expect(faults).toContain('PAGEHAUL_API_KEYS: entry 1: ')
    expect(faults).toContain('PAGEHAUL_API_KEYS: entry 2: ')
    expect(faults).toContain('PAGEHAUL_API_KEYS_FILE: ')
    expect(faults).toContain('PORT: ')
    expect(faults).not.toContain(key)
  })

  it.each([
    ['PAGEHAUL_TRUST_PROXY', '10.0.0.1'],
    ['PAGEHAUL_ALLOWED_HOSTS', 'pagehaul:8080'],
    ['PAGEHAUL_ALLOWED_HOSTS', 'https://pagehaul'],
    ['PAGEHAUL_ALLOWED_HOSTS', '*.example.com'],
    ['PAGEHAUL_API_KEYS', ','],
  ])('refuses %s=%j', (name, value) => {
    expect(faultsOf({ [name]: value })).toContain(`${name}: `)
  })

  it.each(['0.0.0.0', '::', '192.168.1.7', 'pagehaul.example.com'])('warns of HOST=%s without keys', (HOST) => {
    expect(loadConfig({ HOST }).warnings).toEqual([expect.stringContaining('PAGEHAUL_API_KEYS')])
    expect(loadConfig({ HOST, PAGEHAUL_API_KEYS: `alice:sha256:${hex}` }).warnings).toEqual([])
  })

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('does not warn of HOST=%s', (HOST) => {
    expect(loadConfig({ HOST }).warnings).toEqual([])
  })

  it('warns of keys in clear in a file that others can read', () => {
    using temp = tempFolder()
    const file = temp.file('keys')
    writeFileSync(file, `alice:${key}\n`)
    chmodSync(file, 0o604)
    expect(loadConfig({ PAGEHAUL_API_KEYS_FILE: file }).warnings).toEqual([
      expect.stringContaining('PAGEHAUL_API_KEYS_FILE'),
    ])
  })
})

describe('.env.example', () => {
  it('lists every setting with its default, and no other', () => {
    const listed = readFileSync('.env.example', 'utf8').matchAll(/^#?\s?([A-Z][A-Z0-9_]+)=(.*)$/gm)
    const defaults = Object.entries(ConfigSchema.properties).map(([name, schema]) => [name, String(schema.default)])
    expect([...listed].map(([, name, value]) => [name, value])).toEqual(defaults)
  })
})
