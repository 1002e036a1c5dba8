import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { hasTest } from '../helpers/has-test.ts'

/** A file and the titles that follow it: `test/a.test.ts` "one", "another". */
const CITATION = /`(?<file>test\/[\w./-]+\.ts)`(?<titles>(?:,? "[^"]+")+)/g

const text = readFileSync('docs/security.md', 'utf8')
const promises = text
  .split('\n')
  .filter((line) => /^\| (?!promise \||---)/.test(line))
  .map((line) => {
    const [promise = '', shownBy = ''] = line.slice(2, -2).split(' | ')
    return { promise, tests: citationsIn(shownBy) }
  })

function citationsIn(cell: string): { file: string; title: string }[] {
  return [...cell.matchAll(CITATION)].flatMap(({ groups: { file = '', titles = '' } = {} }) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ file, title })),
  )
}

describe('docs/security.md', () => {
  it('shows each promise by tests that there are', () => {
    const unknown = promises.flatMap(({ tests }) => tests).filter(({ file, title }) => !hasTest(file, title))
    expect(unknown).toEqual([])
  })

  it('makes no promise without a test', () => {
    expect(promises.length).toBeGreaterThan(30)
    expect(promises.filter(({ tests }) => tests.length === 0)).toEqual([])
  })

  it('names no test that the check above does not read', () => {
    const named = text.match(/`test\/[^`]+`/g)?.length ?? 0
    const cited = promises.reduce((sum, { tests }) => sum + new Set(tests.map(({ file }) => file)).size, 0)
    expect(named).toBe(cited + 1) // This file is named, too.
  })
})

it.each(['docs/security.md', 'docs/reliability.md', 'SECURITY.md'])(
  '%s names npm scripts that there are',
  (document) => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    const named = [...readFileSync(document, 'utf8').matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  },
)
