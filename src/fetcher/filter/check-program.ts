import type { Program } from '../../jobs/check-programs.ts'
import { patternFault } from './grep.ts'
import { jqFault } from './jq.ts'

/** What is wrong with a program; undefined if it compiles. */
export async function checkProgram({ language, source }: Program): Promise<string | undefined> {
  return language === 'jq' ? jqFault(source) : patternFault(source)
}
