import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { ConfigError, ConfigSchema, loadConfig } from '../src/config.ts'
import { DEFAULT_LIMITS, withDefaults } from '../src/jobs/limits.ts'

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
  })

  it('names every wrong variable at once, with what it got', () => {
    const message = faultsOf({
      PORT: 'http',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'postgres://x',
      PAGEHAUL_JOB_TTL_S: '-1',
    })
    for (const fault of [
      'PORT: ',
      'LOG_LEVEL: must be one of fatal',
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
    ['PAGEHAUL_USER_AGENT', 'a\r\nb'],
    ['PAGEHAUL_TARGET_TIMEOUT_MS', '0'],
    ['PORT', '65536'],
  ])('refuses %s=%j', (name, value) => {
    expect(faultsOf({ [name]: value })).toContain(`${name}: `)
  })

  it('refuses a name that it does not know', () => {
    expect(faultsOf({ PAGEHAUL_JOB_TTL: '60' })).toContain('PAGEHAUL_JOB_TTL: there is no such setting')
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

describe('.env.example', () => {
  it('lists every setting with its default, and no other', () => {
    const listed = readFileSync('.env.example', 'utf8').matchAll(/^#?\s?([A-Z][A-Z0-9_]+)=(.*)$/gm)
    const defaults = Object.entries(ConfigSchema.properties).map(([name, schema]) => [name, String(schema.default)])
    expect([...listed].map(([, name, value]) => [name, value])).toEqual(defaults)
  })
})
