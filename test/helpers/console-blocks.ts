import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { promisify } from 'node:util'

/** A command of a document, and what the document says that it prints. */
interface Example {
  readonly command: string
  readonly output: string
}

const BLOCK = /^```console\n([\s\S]*?)^```$/gm
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** What no two runs have in common. */
const VOLATILE: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
  [/("duration_ms": ?)\d+/g, '$1<ms>'],
]

/** Every document of the project, by its path. */
export const DOCUMENTS: readonly string[] = ['README.md', ...globSync('docs/**/*.md').toSorted()]

/** The examples of a document: in `console` blocks, a line that starts with `$ ` is a command, to its closing quote. */
export function examplesOf(markdown: string): Example[] {
  return [...markdown.matchAll(BLOCK)].flatMap(([, block = '']) => parseBlock(block))
}

/** The document with the outputs that its commands have now. */
export function withOutputs(markdown: string, outputs: readonly string[]): string {
  const left = [...outputs]
  return markdown.replaceAll(BLOCK, (_, block: string) => {
    const parts = parseBlock(block).map(({ command }) => `$ ${command}\n${left.shift() ?? ''}`)
    return `\`\`\`console\n${parts.join('\n\n')}\n\`\`\``
  })
}

function parseBlock(block: string): Example[] {
  const examples: { command: string; output: string }[] = []
  for (const line of block.trimEnd().split('\n')) {
    const last = examples.at(-1)
    if (last && !isComplete(last.command)) last.command += `\n${line}`
    else if (line.startsWith('$ ')) examples.push({ command: line.slice(2), output: '' })
    else if (last) last.output += `${line}\n`
  }
  return examples.map(({ command, output }) => ({ command, output: output.trimEnd() }))
}

const isComplete = (command: string) => command.split("'").length % 2 === 1 && !command.endsWith('\\')

/**
 * Runs commands one after the other, in a shell, with these texts of the document replaced in them, and back in what they
 * print. An id of the document stands for the one that is printed now: in the same place, or else just before.
 */
export async function run(
  examples: readonly Example[],
  replaced: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv,
): Promise<string[]> {
  const outputs: string[] = []
  const names = new Map(Object.entries(replaced))
  let latest: string | undefined
  for (const { command, output } of examples) {
    for (const id of command.match(UUID) ?? []) if (latest !== undefined && !names.has(id)) names.set(id, latest)
    const { stdout } = await promisify(execFile)('bash', ['-c', swap(command, names)], {
      env: environment,
      timeout: 30_000,
    })
    const printed = stdout.match(UUID) ?? []
    for (const [position, id] of (output.match(UUID) ?? []).entries()) {
      const now = printed[position]
      if (now !== undefined && !names.has(id)) names.set(id, now)
    }
    latest = printed[0] ?? latest
    outputs.push(swap(stdout.trimEnd(), new Map([...names].map(([name, now]) => [now, name]))))
  }
  return outputs
}

function swap(text: string, names: ReadonlyMap<string, string>): string {
  let swapped = text
  for (const [from, to] of names) swapped = swapped.replaceAll(from, to)
  return swapped
}

/** Without what no two runs have in common. Ids are named in the order in which they come. */
export function comparable(outputs: readonly string[]): string[] {
  const ids = new Map<string, string>()
  return outputs.map((output) => {
    let text = output.replaceAll(UUID, (id) => {
      if (!ids.has(id)) ids.set(id, `<id ${ids.size + 1}>`)
      return ids.get(id) ?? id
    })
    for (const [pattern, name] of VOLATILE) text = text.replaceAll(pattern, name)
    return text
  })
}
