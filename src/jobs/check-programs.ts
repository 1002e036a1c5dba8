import { type Fault, validationFailed } from '../errors.ts'
import type { Submission, TargetOptions } from './schema.ts'

/** Something of a caller's that must compile: a `jq` program or a `grep` pattern. */
export interface Program {
  readonly language: 'jq' | 're2'
  readonly source: string
}

/** Compiles programs of a caller; gives what is wrong with each, in the order sent, undefined for those that compile. */
export type CheckPrograms = (programs: readonly Program[], caller: string) => Promise<readonly (string | undefined)[]>

/**
 * Refuses a submission with a program that does not compile, so that it is no failed target later.
 * @throws {AppError} `validation_failed`
 */
export async function assertProgramsCompile(
  { targets, options }: Submission,
  caller: string,
  check: CheckPrograms,
): Promise<void> {
  const places = [
    ...programsIn('/options', options),
    ...targets.flatMap((target, index) => programsIn(`/targets/${index}/options`, target.options)),
  ]
  if (places.length === 0) return
  const distinct = new Map(places.map(({ program }) => [`${program.language} ${program.source}`, program]))
  const checked = await check([...distinct.values()], caller)
  const faultOf = new Map([...distinct.keys()].map((key, index) => [key, checked[index]]))
  const faults = places.flatMap(({ pointer, program }): Fault[] => {
    const fault = faultOf.get(`${program.language} ${program.source}`)
    if (fault === undefined) return []
    const kind = program.language === 'jq' ? 'jq 1.7 program' : 'RE2 expression'
    return [{ pointer, detail: `This is no ${kind}: ${fault}.` }]
  })
  if (faults.length > 0) throw validationFailed(faults)
}

function programsIn(pointer: string, { jq, grep }: TargetOptions = {}): { pointer: string; program: Program }[] {
  return [
    ...(jq === undefined ? [] : [{ pointer: `${pointer}/jq`, program: { language: 'jq', source: jq } as const }]),
    ...(grep === undefined
      ? []
      : [{ pointer: `${pointer}/grep`, program: { language: 're2', source: grep } as const }]),
  ]
}
