import type { Program } from '../../jobs/check-programs.ts'
import { patternFault } from './grep.ts'
import { jqFault } from './jq.ts'

/** What is wrong with each program, in the order sent; undefined for one that compiles. */
export async function checkPrograms(programs: readonly Program[]): Promise<(string | undefined)[]> {
  const faults: (string | undefined)[] = []
  for (const { language, source } of programs) {
    faults.push(language === 'jq' ? await jqFault(source) : patternFault(source))
  }
  return faults
}
