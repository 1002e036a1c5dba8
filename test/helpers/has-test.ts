import { existsSync, readFileSync } from 'node:fs'

/** Whether a file has a test, or a group of tests, of this title. */
export function hasTest(file: string, title: string): boolean {
  const source = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return ["'", '`', '"'].some((quote) => {
    const written = RegExp.escape(quote + title + quote)
    return new RegExp(`(?:\\b(?:describe|it|test)(?:\\.\\w+)*|\\))\\(\\s*${written},`).test(source)
  })
}
