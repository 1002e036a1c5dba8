import { describe, expect, it } from 'vitest'

import type { FilterOptions } from '../../../src/fetcher/filter/filter.ts'
import { type ConverterOptions, createConverter } from '../../../src/fetcher/isolation/converter.ts'
import { createProgramChecker } from '../../../src/fetcher/isolation/program-checker.ts'

const MEGABYTE = 1024 * 1024
const never = new AbortController().signal

/** Filters JSON in a child process, each case followed by a harmless one. */
function open(options: ConverterOptions = {}) {
  const converter = createConverter({ workersMax: 1, ...options })
  return {
    filter: (content: string, filters: FilterOptions) =>
      converter.filter({ converted: { content }, options: filters }, never),
    [Symbol.asyncDispose]: () => converter.close(),
  }
}

describe('a filter in a child process', () => {
  it('applies jq, then grep, then the question', async () => {
    await using child = open()
    const options = { jq: '.[].name', grep: 'lamp', question: 'Which lamp is red?' }
    expect(await child.filter('[{"name":"red lamp"},{"name":"a lamp"},{"name":"door"}]', options)).toMatchObject({
      content: '"red lamp"\n"a lamp"',
      matches: 2,
      passages: [{ quote: '"red lamp"\n"a lamp"' }],
      warnings: [],
    })
  })

  it.each(['def f: f; f', '[range(0; infinite)] | length', 'last(repeat(1))'])(
    'that never ends is stopped at its limit: %s',
    async (jq) => {
      await using child = open({ filterMsMax: 700 })
      expect(await child.filter('1', { jq })).toEqual({
        failure: { code: 'filter_timeout', message: 'Filtering the content took longer than 1 s.' },
      })
      expect(await child.filter('1', { jq: '.+1' })).toMatchObject({ content: '2' })
    },
  )

  it.each(['[range(100000000)]', '[limit(100000; repeat("x" * 100000))]', '"x" * 1e9', 'def f: 1 + f; f'])(
    'that eats memory is stopped at its limit: %s',
    async (jq) => {
      await using child = open({ memoryBytesMax: 250 * MEGABYTE, filterMsMax: 30_000 })
      expect(await child.filter('1', { jq })).toMatchObject({ failure: { code: 'filter_failed' } })
      expect(await child.filter('1', { jq: '.+1' })).toMatchObject({ content: '2' })
    },
    40_000,
  )

  it('takes JSON of 20 million characters, and no more', async () => {
    await using child = open()
    const json = (length: number) => `["${'x'.repeat(length - 4)}"]`
    expect(await child.filter(json(20_000_000), { jq: '.[0] | length' })).toMatchObject({ content: '19999996' })
    expect(await child.filter(json(20_000_001), { jq: '.' })).toMatchObject({ failure: { code: 'filter_failed' } })
  }, 30_000)
})

/** What breaks the memory of jq while it compiles. */
const COMPILER_BOMBS = [
  `${'[limit(1;'.repeat(700)}1${')]'.repeat(700)}`,
  `${String.raw`"\(`.repeat(1_600)}1${')"'.repeat(1_600)}`,
]

describe('the check of programs', () => {
  it.each(COMPILER_BOMBS)('refuses a program that breaks the compiler, and only that one: %#', async (source) => {
    const checker = createProgramChecker()
    const harmless = { language: 'jq', source: '.' } as const
    const [first, bomb, last] = await checker.check([harmless, { language: 'jq', source }, harmless], 'alice')
    expect([first, last]).toEqual([undefined, undefined])
    expect(bomb).toMatch(/nested too deeply|takes too much/)
    expect(await checker.check([harmless], 'alice')).toEqual([undefined])
    await checker.close()
  })

  it.each(COMPILER_BOMBS)('is not needed for the filter to survive such a program: %#', async (jq) => {
    await using child = open()
    expect(await child.filter('1', { jq })).toMatchObject({ failure: { code: 'filter_failed' } })
    expect(await child.filter('1', { jq: '.+1' })).toMatchObject({ content: '2' })
  })

  it.each([
    ['a caller', () => 'alice', 32],
    ['all callers', (index: number) => `c${index}`, 64],
  ])('refuses more submissions of %s than it has room for, and takes them later', async (_who, callerOf, most) => {
    const checker = createProgramChecker()
    const check = (index: number) => checker.check([{ language: 're2', source: `a{${index}}` }], callerOf(index))
    const ended = await Promise.allSettled(Array.from({ length: 70 }, (_, index) => check(index)))
    const codes = ended.map((end) => (end.status === 'rejected' ? (end.reason as { code: string }).code : 'checked'))
    expect(codes.filter((code) => code === 'checked')).toHaveLength(most)
    expect(codes.filter((code) => code === 'programs_unchecked')).toHaveLength(70 - most)
    expect(await check(70)).toEqual([undefined])
    await checker.close()
  })

  it('lets callers take turns, however many submissions one of them sends', async () => {
    const checker = createProgramChecker()
    const checked: string[] = []
    const check = async (caller: string, index: number) => {
      await checker.check([{ language: 're2', source: `${caller}{${index}}` }], caller)
      checked.push(caller)
    }
    const alice = Array.from({ length: 20 }, (_, index) => check('alice', index))
    await Promise.all([...alice, check('bob', 0)])
    expect(checked.indexOf('bob')).toBeLessThan(3)
    await checker.close()
  })

  it('compiles each in its language, and says what is wrong', async () => {
    const checker = createProgramChecker()
    const faults = await checker.check(
      [
        { language: 'jq', source: '.a' },
        { language: 'jq', source: '.a |' },
        { language: 're2', source: 'a+' },
        { language: 're2', source: 'a(' },
      ],
      'alice',
    )
    expect(faults).toEqual([
      undefined,
      expect.stringContaining('syntax error'),
      undefined,
      expect.stringContaining('missing closing )'),
    ])
    await checker.close()
  })

  it.each([
    '(((('.repeat(250),
    `${'(a'.repeat(100)}${'{9})'.repeat(100)}`,
    '[[:word:]]{1000}'.repeat(50),
    String.raw`\pL{1000}`.repeat(80),
  ])(
    'answers whatever the pattern costs: %#',
    async (source) => {
      const checker = createProgramChecker()
      const [fault] = await checker.check([{ language: 're2', source }], 'alice')
      expect(['string', 'undefined']).toContain(typeof fault)
      expect(await checker.check([{ language: 're2', source: 'a+' }], 'alice')).toEqual([undefined])
      await checker.close()
    },
    20_000,
  )
})
