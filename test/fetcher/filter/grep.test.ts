import { array, assert, boolean, constantFrom, property } from 'fast-check'
import { describe, expect, it } from 'vitest'

import { grep, patternFault } from '../../../src/fetcher/filter/grep.ts'

const lines = (...text: string[]) => text.join('\n')

describe('grep', () => {
  it('keeps the lines that match, and counts them', () => {
    expect(grep(lines('one', 'two', 'three', 'two again'), 'two', false)).toEqual({
      content: lines('two', 'two again'),
      matches: 2,
      cut: false,
    })
  })

  it('gives nothing, and no failure, without a match', () => {
    expect(grep(lines('one', 'two'), 'three', true)).toEqual({ content: '', matches: 0, cut: false })
  })

  it('gives two lines around a match with context', () => {
    expect(grep(lines('1', '2', '3', 'x', '5', '6', '7'), 'x', true).content).toBe(lines('2', '3', 'x', '5', '6'))
  })

  it('merges windows that touch, and parts others by --', () => {
    const text = lines('x', '2', '3', '4', '5', 'x', '7', '8', '9', '10', '11', 'x')
    expect(grep(text, 'x', true).content).toBe(lines('x', '2', '3', '4', '5', 'x', '7', '8', '--', '10', '11', 'x'))
  })

  it('names the page of each window with context, once', () => {
    const page = (number: number, ...text: string[]) => lines(`<!-- page ${number} -->`, ...text)
    const text = lines(page(1, 'a', 'b'), page(2, 'a', 'b', 'c', 'x', 'd', 'e', 'f', 'g', 'h', 'x'), page(3, 'x', 'a'))
    expect(grep(text, 'x', true).content).toBe(
      lines('<!-- page 2 -->', 'b', 'c', 'x', 'd', 'e', '--', 'g', 'h', 'x', '<!-- page 3 -->', 'x', 'a'),
    )
    expect(grep(text, 'x', false).content).toBe(lines('x', 'x', 'x'))
  })

  it('reads lines that end in CRLF', () => {
    expect(grep('one\r\ntwo\r\nthree\r\n', 'o$', false)).toEqual({ content: 'two', matches: 1, cut: false })
  })

  it.each([
    ['(?i)ÄRGER', 'kein ärger', 1],
    [String.raw`\p{Han}+`, '漢字', 1],
    [String.raw`\p{Greek}`, 'abc', 0],
    ['^.$', '😀', 1],
    [String.raw`\bword\b`, 'a word.', 1],
    ['^$', '', 0],
  ])('reads Unicode: %s in %s', (pattern, text, matches) => {
    expect(grep(text, pattern, false).matches).toBe(matches)
  })

  it('cuts a long line around its match, between characters', () => {
    const { content, cut } = grep(`${'😀'.repeat(2_000)}x needle${'😀'.repeat(2_000)}`, 'needle', false)
    expect(cut).toBe(true)
    expect(content).toMatch(/^…😀+x needle😀+…$/u)
    expect(content.length).toBeLessThanOrEqual(1_002)
    expect(content.isWellFormed()).toBe(true)
  })

  it('cuts a long line of the context at its end', () => {
    const { content, cut } = grep(lines('a'.repeat(5_000), 'x'), 'x', true)
    expect(cut).toBe(true)
    expect(content).toBe(lines(`${'a'.repeat(1_000)}…`, 'x'))
  })

  it('takes linear time where backtracking would take for ever', () => {
    expect(grep(`${'a'.repeat(50_000)}!`, '^(a+)+$', false).matches).toBe(0)
  })

  it('gives every match once and in order, with or without context', () => {
    assert(
      property(array(constantFrom('x', 'y', 'x2', '')), boolean(), (all, context) => {
        const { content, matches } = grep(all.join('\n'), 'x', context)
        const hits = all.filter((line) => line.includes('x'))
        expect(matches).toBe(hits.length)
        expect(content.split('\n').filter((line) => line.includes('x'))).toEqual(hits)
      }),
    )
  })
})

describe('a pattern', () => {
  it.each([
    ['(', /missing closing \)/],
    ['a**', /repetition operator/],
    ['(?=x)', /Perl syntax/],
    [String.raw`(a)\1`, /escape sequence/],
    [String.raw`\<word\>`, /\\b/],
    ['a{2000}', /repeat/],
    ['[z-a]', /character class range/],
    [String.raw`\p{Nope}`, /character class range/],
  ])('that RE2 does not take is refused with its reason: %s', (pattern, reason) => {
    expect(patternFault(pattern)).toMatch(reason)
  })

  it.each(['x', '(?i)x|y', String.raw`\\<b>`, '<b>', '^a{3,5}$', String.raw`\d+\.\d+`])('is taken: %s', (pattern) => {
    expect(patternFault(pattern)).toBeUndefined()
  })
})
