import { createRequire } from 'node:module'

import type { Failed } from '../convert/document.ts'
import { failure } from '../convert/failure.ts'
import { SpentError } from './spent-error.ts'

/** Characters of JSON that a program may be run on. */
const JSON_LENGTH_MAX = 20_000_000
/** Characters of the outputs so far that the message of a failure holds. */
const OUTPUTS_TOLD_MAX = 300

/**
 * Comes before each program, on a line of its own. Programs know neither the process nor its input beyond `.`, and
 * cannot end it; builtins that jq has got since version 1.7 are defined where jq can define them.
 */
const PRELUDE = [
  ...['env', 'input', 'inputs', 'halt', 'get_search_list', 'modulemeta'].map(
    (name) => `def ${name}: error("${name} is not available here");`,
  ),
  'def halt_error: error; def halt_error($code): error; def input_filename: null; def input_line_number: 0;',
  'def debug: .; def debug(f): .; def stderr: .;',
  'def abs: if type == "number" and . < 0 then -. elif type == "number" then . else error("\\(type) (\\(tojson)) has no absolute value") end;',
  'def toarray: if type == "array" then . else [.] end;',
  'def add(f): reduce f as $x (null; . + $x);',
  'def have_decnum: true; def have_literal_numbers: true;',
  'def pagehaul_text: if type == "string" then . else error("\\(type) (\\(tojson)) cannot be trimmed") end;',
  'def ltrim: pagehaul_text | sub("^\\\\s+"; ""); def rtrim: pagehaul_text | sub("\\\\s+$"; ""); def trim: ltrim | rtrim;',
  'def trimstr($s): ltrimstr($s) | rtrimstr($s);',
  'def skip($n; f): if $n > 0 then foreach f as $x ($n + 1; . - 1; if . <= 0 then $x else empty end)',
  'elif $n == 0 then f else error("skip doesn\'t support negative count") end;',
  'def dateadd(u; n): . + n; def datesub(u; n): . - n; def ascii: [.] | implode;',
  'null as $ENV |',
].join(' ')

/** Marks at the start of the lines that a wrapped program prints. */
const OUTPUT = '[0,'
const FAULT = '[1,'
const BAD_INPUT = '[2,'
const END = '[3]'

/**
 * The outputs of a jq program, as compact JSON, one a line. Numbers keep the digits they were written with.
 * @throws {SpentError} if jq itself broke; the process must be given up.
 */
export async function runJq(json: string, program: string): Promise<{ content: string } | Failed> {
  if (json.length > JSON_LENGTH_MAX) {
    return failure('filter_failed', `The JSON has more than ${JSON_LENGTH_MAX} characters, too many for \`jq\`.`)
  }
  const printed = await raw(json, wrap(program), ['-n', '-c'])
  if ('stderr' in printed) return failure('filter_failed', `The program failed: ${firstLine(printed.stderr)}`)
  if (!printed.stdout.endsWith(END)) throw new SpentError('jq stopped before its end.')
  const outputs: string[] = []
  for (const line of printed.stdout.split('\n')) {
    if (line.startsWith(OUTPUT)) outputs.push(line.slice(OUTPUT.length, -1))
    else if (line.startsWith(FAULT)) return failure('filter_failed', fault(line, outputs))
    else if (line.startsWith(BAD_INPUT)) return badInput(told(line))
  }
  return { content: outputs.join('\n') }
}

/** What is wrong with a program, in the words of jq; undefined if it compiles. */
export async function jqFault(program: string): Promise<string | undefined> {
  // Without an input a program is compiled and not run.
  const alone = await raw('', `${PRELUDE}\n${program}`, ['-c'])
  if ('stderr' in alone) return firstLine(alone.stderr)
  const wrapped = await raw('', wrap(program), ['-n', '-c'])
  return 'stderr' in wrapped ? 'It must be one expression.' : undefined
}

/** The inputs are taken before the prelude hides them; the program sees its own one only. */
const wrap = (program: string): string =>
  `((try (inputs | [.]) catch [., 0]) as $pagehaul | ${PRELUDE} if $pagehaul | length == 2 then [2, $pagehaul[0]] else $pagehaul[0] | try ((
${program}
) | [0, .]) catch [1, .] end), [3]`

/** Loaded when it is first needed: it takes time and memory that most documents do not need. */
const load = (): Promise<Jq> => createRequire(import.meta.url)('jq-web') as Promise<Jq>

/** What of jq-web is used. */
interface Jq {
  /**
   * Runs a program on JSON text and gives what it prints, without the last line feed.
   * @throws {Error} with `stderr` if jq ends with another status than 0; {TypeError} if it prints nothing.
   */
  raw(json: string, program: string, flags: readonly string[]): string
}

type Printed = { readonly stdout: string } | { readonly stderr: string }

async function raw(json: string, program: string, flags: readonly string[]): Promise<Printed> {
  const jq = await load()
  try {
    return { stdout: jq.raw(json, program, flags) }
  } catch (error) {
    if (error instanceof Error && 'stderr' in error && typeof error.stderr === 'string') {
      // Its memory stays broken, and fails whatever comes next.
      if (error.stderr.includes('cannot allocate memory'))
        throw new SpentError('jq ran out of memory.', { cause: error })
      return { stderr: error.stderr }
    }
    if (error instanceof TypeError) return { stdout: '' } // It printed nothing.
    throw new SpentError('jq broke off.', { cause: error })
  }
}

/** Some JSON is none to jq: its parser has limits of its own. */
function badInput(reason: string): Failed {
  if (reason.includes('Exceeds depth limit')) {
    return failure('filter_failed', 'The JSON is nested deeper than the 256 levels that `jq` reads.')
  }
  if (reason.includes('surrogate pair')) {
    return failure('filter_failed', 'The JSON holds half a surrogate pair, which `jq` does not read.')
  }
  return failure('not_json', `The content is not JSON: ${reason}`)
}

function fault(line: string, outputs: readonly string[]): string {
  const before = outputs.join(' ')
  const cut = before.length > OUTPUTS_TOLD_MAX ? `${before.slice(0, OUTPUTS_TOLD_MAX)}…` : before
  return `The program failed: ${told(line)} ${cut === '' ? 'It had no output before.' : `Its output before that: ${cut}`}`
}

/** The value after the mark, as words. */
function told(line: string): string {
  const text = line.slice(OUTPUT.length, -1)
  const value: unknown = JSON.parse(text)
  return `${(typeof value === 'string' ? value : text).slice(0, 500)}.`
}

/** The reason without the name of the program, with the line counted from the caller's first. */
function firstLine(stderr: string): string {
  const [line = ''] = stderr.replace(/^jq: error: /, '').split('\n')
  return line
    .replace(/ \(Unix shell quoting issues\?\)/, '')
    .replace(/ at <top-level>, line (\d+):$/, (_, number: string) => ` at line ${Math.max(1, Number(number) - 1)}`)
    .trim()
}
