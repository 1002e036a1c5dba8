import { execFile } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createKey, digestKey, isKeyName, isWellFormedKey } from '../../src/api-key.ts'
import { createKeyRing } from '../../src/http/keys.ts'
import { readKeySettings } from '../../src/key-settings.ts'
import { fakeClock } from '../helpers/fake-clock.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const HEX = 'a'.repeat(64)
const run = promisify(execFile)

describe('a key', () => {
  it('is a prefix, 33 digits of secret and 6 that check them, all of which a double click selects', () => {
    const keys = Array.from({ length: 200 }, createKey)
    for (const key of keys) expect(key).toMatch(/^phk_[0-9A-Za-z]{39}$/)
    expect(keys.every(isWellFormedKey)).toBe(true)
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('takes every value that 192 bits have, the first digit too', () => {
    // 62 ** 33 is 22 times 2 ** 192: the first digit is 0, 1 or 2, all others are any.
    const digits = Array.from({ length: 2_000 }, () => createKey().slice(4, 37))
    expect(new Set(digits.map((text) => text[0]))).toEqual(new Set(['0', '1', '2']))
    for (const place of [1, 16, 32]) expect(new Set(digits.map((text) => text[place])).size).toBe(62)
  })

  it('is told from one with a wrong, swapped, missing or extra character', () => {
    const anyKey = fc.constant(undefined).map(createKey)
    const digit = fc.string({ minLength: 1, maxLength: 1 })
    const slip = fc.tuple(anyKey, fc.nat(38), digit, fc.constantFrom('replace', 'swap', 'drop', 'add'))
    fc.assert(
      fc.property(slip, ([key, at, other, how]) => {
        const place = at + 4
        const [before, one, next] = [key.slice(0, place), key.charAt(place), key.charAt(place + 1)]
        const slipped = {
          replace: before + other + key.slice(place + 1),
          swap: before + next + one + key.slice(place + 2),
          drop: before + key.slice(place + 1),
          add: before + other + key.slice(place),
        }[how]
        fc.pre(slipped !== key)
        return !isWellFormedKey(slipped)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each(['', 'phk_', 'PHK_', `phk_${'0'.repeat(39)}`, ` ${createKey()}`, `${createKey()}\n`])('is not %j', (text) =>
    expect(isWellFormedKey(text)).toBe(false),
  )
})

describe('the name of a caller', () => {
  it.each(['alice', 'a', 'A-1._z', 'x'.repeat(64)])('can be %s', (name) => expect(isKeyName(name)).toBe(true))
  it.each(['', 'x'.repeat(65), 'a b', 'a:b', 'é', 'phk_alice', createKey()])('cannot be %j', (name) =>
    expect(isKeyName(name)).toBe(false),
  )
})

describe('the settings of keys', () => {
  it('take keys and digests, several for one caller, and a time of expiry', () => {
    const [first, second] = [createKey(), createKey()]
    const list = `alice:${first}, alice:sha256:${digestKey(second).toString('hex').toUpperCase()} ;expires=2030-01-31T00:00:00+01:00,\nbob:sha256:${HEX}`
    expect(readKeySettings(list, undefined)).toEqual({
      keys: [
        { name: 'alice', digest: digestKey(first), expiresAt: undefined },
        { name: 'alice', digest: digestKey(second), expiresAt: Date.UTC(2030, 0, 30, 23) },
        { name: 'bob', digest: Buffer.from(HEX, 'hex'), expiresAt: undefined },
      ],
      faults: [],
      isExposed: false,
    })
  })

  it('take a file with comments beside the list', () => {
    using temp = tempFolder()
    const file = temp.file('keys')
    writeFileSync(file, `\ufeff# Who may come in, and why\r\n\r\nbob:sha256:${HEX} # his laptop\r\n`)
    const { keys, faults } = readKeySettings(`alice:${createKey()}`, file)
    expect(faults).toEqual([])
    expect(keys.map(({ name }) => name)).toEqual(['alice', 'bob'])
  })

  it('tell of a file with keys in clear that others can read, and of no other', () => {
    using temp = tempFolder()
    const isExposed = (text: string, mode: number) => {
      writeFileSync(temp.file('keys'), text)
      chmodSync(temp.file('keys'), mode)
      return readKeySettings(undefined, temp.file('keys')).isExposed
    }
    expect(isExposed(`alice:${createKey()}`, 0o644)).toBe(true)
    expect(isExposed(`alice:${createKey()}`, 0o640)).toBe(false)
    expect(isExposed(`alice:sha256:${HEX}`, 0o644)).toBe(false)
  })

  it.each<{ what: string; list: string; fault: RegExp }>([
    { what: 'a key without a name', list: createKey(), fault: /entry 1: must begin with a name/ },
    { what: 'a key in the place of the name', list: `${createKey()}:sha256:${HEX}`, fault: /entry 1: must begin/ },
    { what: 'an empty name', list: `:${createKey()}`, fault: /entry 1: must begin/ },
    { what: 'a secret of your own', list: 'alice:hunter2', fault: /entry 1: must have a key made by/ },
    { what: 'a mistyped key', list: `a:sha256:${HEX},b:${createKey()}x`, fault: /entry 2: must have a key/ },
    { what: 'a short digest', list: `alice:sha256:${HEX.slice(1)}`, fault: /entry 1: must have a key/ },
    { what: 'a date for a time', list: `alice:${createKey()};expires=2030-01-31`, fault: /entry 1: can end in/ },
    { what: 'a time that is none', list: `a:${createKey()};expires=2030-13-31T00:00:00Z`, fault: /entry 1: can end/ },
    { what: 'a time without a zone', list: `a:${createKey()};expires=2030-01-31T00:00:00`, fault: /entry 1: can end/ },
    { what: 'another suffix', list: `alice:${createKey()};admin=true`, fault: /entry 1: can end in/ },
    { what: 'two suffixes', list: `a:${createKey()};expires=2030-01-31T00:00:00Z;x`, fault: /entry 1: can end in/ },
    { what: 'commas alone', list: ' , ,', fault: /^PAGEHAUL_API_KEYS: there is no key in it$/ },
    { what: 'one key for two callers', list: `a:sha256:${HEX},b:sha256:${HEX}`, fault: /the same key stands twice/ },
  ])('refuse $what and repeat nothing of it', ({ list, fault }) => {
    const { faults } = readKeySettings(list, undefined)
    expect(faults).toEqual([expect.stringMatching(fault)])
    for (const secret of list.match(/phk_\w+|hunter2|a{20}/g) ?? []) expect(faults.join('\n')).not.toContain(secret)
  })

  it('refuse more keys than a request should be compared with', () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, n) => `a:sha256:${n.toString(16).padStart(64, '0')}`).join('\n')
    expect(readKeySettings(list(1_000), undefined).faults).toEqual([])
    expect(readKeySettings(list(1_001), undefined).faults).toEqual([expect.stringContaining('more than 1000')])
  })

  it('refuse a file that is empty, missing or wrong, and name the line', () => {
    using temp = tempFolder()
    const key = createKey()
    writeFileSync(temp.file('empty'), '# none yet\n')
    writeFileSync(temp.file('wrong'), `alice:${key}\n\nbob ${key}\n`)
    const faultsOf = (file: string) => readKeySettings(undefined, file).faults
    expect(faultsOf(temp.file('empty'))).toEqual(['PAGEHAUL_API_KEYS_FILE: there is no key in it'])
    expect(faultsOf(temp.file('wrong'))).toEqual([
      expect.stringContaining('PAGEHAUL_API_KEYS_FILE: line 3: must begin'),
    ])
    expect(faultsOf(temp.folder)).toEqual(['PAGEHAUL_API_KEYS_FILE: cannot be read (EISDIR)'])
    // A key where the path should be: the fault does not show it.
    expect(faultsOf(`alice:${key}`)).toEqual(['PAGEHAUL_API_KEYS_FILE: cannot be read (ENOENT)'])
  })
})

describe('a ring of keys', () => {
  const [alice, rotated, bob] = [createKey(), createKey(), createKey()]
  const entry = (name: string, key: string, expiresAt?: number) => ({ name, digest: digestKey(key), expiresAt })

  it('knows each key by its name, whatever the case of the scheme', () => {
    const ring = createKeyRing([entry('alice', alice), entry('alice', rotated), entry('bob', bob)], fakeClock())
    expect(ring.check(`Bearer ${alice}`)).toEqual({ name: 'alice' })
    expect(ring.check(`bearer  ${rotated} `)).toEqual({ name: 'alice' })
    expect(ring.check(`BEARER ${bob}`)).toEqual({ name: 'bob' })
  })

  it('says why it refuses', () => {
    const ring = createKeyRing([entry('alice', alice)], fakeClock())
    expect(ring.check(undefined)).toEqual({ refusal: 'missing' })
    expect(ring.check('Bearer')).toEqual({ refusal: 'missing' })
    expect(ring.check(alice)).toEqual({ refusal: 'missing' })
    expect(ring.check(`Basic ${btoa(`alice:${alice}`)}`)).toEqual({ refusal: 'missing' })
    expect(ring.check(`Bearer ${alice}x`)).toEqual({ refusal: 'mistyped' })
    expect(ring.check(`Bearer ${bob}`)).toEqual({ refusal: 'unknown' })
  })

  it('refuses a key from the moment on that it expires', () => {
    const clock = fakeClock()
    const ring = createKeyRing([entry('alice', alice, clock.now() + 1_000), entry('alice', rotated)], clock)
    clock.advance(999)
    expect(ring.check(`Bearer ${alice}`)).toEqual({ name: 'alice' })
    clock.advance(1)
    expect(ring.check(`Bearer ${alice}`)).toEqual({ refusal: 'expired' })
    expect(ring.check(`Bearer ${rotated}`)).toEqual({ name: 'alice' })
  })

  it.each([
    { what: 'the first', presented: alice },
    { what: 'the last', presented: bob },
    { what: 'none', presented: createKey() },
  ])('compares every key when $what fits', ({ presented }) => {
    const compared: string[] = []
    const watched = [entry('alice', alice), entry('rotated', rotated), entry('bob', bob)].map((key) => ({
      ...key,
      get digest() {
        compared.push(key.name)
        return key.digest
      },
    }))
    createKeyRing(watched, fakeClock()).check(`Bearer ${presented}`)
    expect(compared).toEqual(['alice', 'rotated', 'bob'])
  })
})

describe('npm run key', () => {
  it('makes a key and the entry that lets it in', async () => {
    const { stdout } = await run(process.execPath, ['scripts/key.ts', 'alice'])
    const [key = ''] = /^phk_\w+$/m.exec(stdout) ?? []
    const [entry = ''] = /^alice:.*$/m.exec(stdout) ?? []
    expect(entry).not.toContain(key)
    const { keys, faults } = readKeySettings(entry, undefined)
    expect(faults).toEqual([])
    expect(createKeyRing(keys, fakeClock()).check(`Bearer ${key}`)).toEqual({ name: 'alice' })
  })

  it.each([[[]], [['two words']], [['alice', 'bob']], [[createKey()]]])(
    'refuses %j with how it is used',
    async (args) => {
      await expect(run(process.execPath, ['scripts/key.ts', ...args])).rejects.toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^Usage: npm run key -- NAME\n/),
      })
    },
  )
})
