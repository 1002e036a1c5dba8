import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { describe, expect, it, vi } from 'vitest'

import type { SourceDocument } from '../../../src/fetcher/convert/document.ts'
import { childFlags, childOptions } from '../../../src/fetcher/isolation/child-options.ts'
import { type ConverterOptions, createConverter } from '../../../src/fetcher/isolation/converter.ts'
import { HOSTILE_PAGES } from '../../helpers/hostile-pages.ts'

const MEGABYTE = 1024 * 1024
/** Takes seconds, and about 300 MB. */
const HEAVY = source(HOSTILE_PAGES['ten megabytes of paragraphs']())
const LIGHT = source('<p>light</p>')
const LIGHT_RESULT = {
  content: 'light',
  isMarkdown: true,
  meta: { content_type: 'text/html', charset: 'UTF-8' },
  warnings: [],
}
const never = new AbortController().signal

function source(html: string): SourceDocument {
  return { body: Buffer.from(html), url: 'https://x.example/', contentType: 'text/html', mode: 'auto' }
}

/** A converter that is closed at the end of its test. */
function open(options: ConverterOptions = {}) {
  const converter = createConverter(options)
  return { ...converter, [Symbol.asyncDispose]: () => converter.close() }
}

/** Process ids of the conversion processes of a parent. */
function childrenOf(parent: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, ppid, state = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return Number(ppid) === parent && args.includes('isolation/child') && !state.startsWith('Z') ? [Number(pid)] : []
  })
}
/** Resolves once a child that converts `HEAVY` has the document, and uses memory for it. */
const untilBusy = (pid: number) =>
  vi.waitFor(() => {
    const kilobytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
    expect(kilobytes).toBeGreaterThan(180_000)
  }, 30_000)

function isAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z')
  } catch {
    return false // ps fails if there is none.
  }
}

/** What a program may do that runs as a child does. */
async function attempt(code: string): Promise<string> {
  const { env } = childOptions(512 * MEGABYTE).forkOpts as { env: NodeJS.ProcessEnv }
  const program = `try { process.stdout.write(String(${code})) } catch (error) { process.stdout.write(error.code) }`
  const probe = spawn(process.execPath, [...childFlags(512 * MEGABYTE), '-e', program], { env })
  let output = ''
  probe.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  await once(probe, 'close')
  return output
}

/** The source of a document, for a program. */
const documentCode = (html: string) =>
  `{ body: Buffer.from(${html}), url: 'https://x.example/', contentType: 'text/html', mode: 'auto' }`

describe('a child', () => {
  it('starts with the first document, serves the next, and is gone after close', async () => {
    const converter = createConverter()
    expect(childrenOf(process.pid)).toEqual([])
    expect(await converter.convert(LIGHT, never)).toEqual(LIGHT_RESULT)
    const first = childrenOf(process.pid)
    expect(await converter.convert(LIGHT, never)).toEqual(LIGHT_RESULT)
    expect(childrenOf(process.pid)).toEqual(first)
    await converter.close()
    expect(childrenOf(process.pid)).toEqual([])
  })

  it('that is killed while idle is replaced', async () => {
    await using converter = open()
    await converter.convert(LIGHT, never)
    for (const pid of childrenOf(process.pid)) process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(childrenOf(process.pid)).toEqual([]))
    expect(await converter.convert(LIGHT, never)).toEqual(LIGHT_RESULT)
  })

  it('that is killed while it works costs its document only', async () => {
    await using converter = open({ workersMax: 1 })
    await converter.convert(LIGHT, never)
    const [pid = 0] = childrenOf(process.pid)
    const lost = converter.convert(HEAVY, never)
    const waiting = converter.convert(LIGHT, never)
    await untilBusy(pid)
    process.kill(pid, 'SIGKILL')
    expect(await lost).toMatchObject({ failure: { code: 'bad_document' } })
    expect(await waiting).toEqual(LIGHT_RESULT)
  })
})

describe('a limit', () => {
  it('of time ends the conversion with timeout, and the next one works', async () => {
    await using converter = open({ timeMsMax: 300, workersMax: 1 })
    const both = Promise.all([converter.convert(HEAVY, never), converter.convert(LIGHT, never)])
    expect(await both).toEqual([
      { failure: { code: 'timeout', message: 'Converting the document took longer than 1 s.' } },
      LIGHT_RESULT,
    ])
  })

  it('of memory ends the conversion with bad_document, and the next one works', async () => {
    await using converter = open({ memoryBytesMax: 200 * MEGABYTE, workersMax: 1 })
    const both = Promise.all([converter.convert(HEAVY, never), converter.convert(LIGHT, never)])
    expect(await both).toMatchObject([{ failure: { code: 'bad_document' } }, LIGHT_RESULT])
  })

  it('of children makes documents wait, not fail', async () => {
    await using converter = open({ workersMax: 2 })
    const conversions = await Promise.all(Array.from({ length: 9 }, () => converter.convert(LIGHT, never)))
    expect(conversions).toEqual(Array.from({ length: 9 }, () => LIGHT_RESULT))
    expect(childrenOf(process.pid)).toHaveLength(2)
  })
})

describe('an abort', () => {
  it('rejects at once with its reason and ends the child', async () => {
    await using converter = open({ workersMax: 1 })
    await converter.convert(LIGHT, never)
    const [pid = 0] = childrenOf(process.pid)
    const controller = new AbortController()
    const conversion = converter.convert(HEAVY, controller.signal)
    conversion.catch(() => undefined) // It is looked at below.
    const reason = new Error('deadline')
    await untilBusy(pid)
    controller.abort(reason)
    await expect(conversion).rejects.toBe(reason)
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false))
    expect(await converter.convert(LIGHT, never)).toEqual(LIGHT_RESULT)
  })

  it('before or while a document waits costs no child', async () => {
    await using converter = open({ workersMax: 1 })
    await converter.convert(LIGHT, never)
    const [pid] = childrenOf(process.pid)
    await expect(converter.convert(LIGHT, AbortSignal.abort('early'))).rejects.toBe('early')
    const controller = new AbortController()
    const first = converter.convert(LIGHT, never)
    const second = converter.convert(LIGHT, controller.signal)
    const third = converter.convert(LIGHT, never)
    controller.abort('late')
    await expect(second).rejects.toBe('late')
    expect(await Promise.all([first, third])).toEqual([LIGHT_RESULT, LIGHT_RESULT])
    expect(childrenOf(process.pid)).toEqual([pid])
  })
})

it('close rejects what runs and what waits, and leaves no process', async () => {
  const converter = createConverter({ workersMax: 1 })
  await converter.convert(LIGHT, never)
  const conversions = [converter.convert(HEAVY, never), converter.convert(LIGHT, never)]
  const ended = Promise.allSettled(conversions)
  await converter.close()
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(childrenOf(process.pid)).toEqual([])
  await expect(converter.convert(LIGHT, never)).rejects.toThrow('closed')
})

it('a task that throws is a bug, and rejects', async () => {
  await using converter = open()
  const broken = { ...LIGHT, body: undefined as unknown as Uint8Array }
  await expect(converter.convert(broken, never)).rejects.toThrow('The task convert threw: TypeError')
  expect(await converter.convert(LIGHT, never)).toEqual(LIGHT_RESULT)
})

it.each(['idle', 'busy'])('a service that is killed with -9 leaves no child behind (%s)', async (state) => {
  const pool = new URL('../../../src/fetcher/isolation/converter.ts', import.meta.url).href
  const program = `
    const { createConverter } = await import(${JSON.stringify(pool)})
    const converter = createConverter()
    const never = new AbortController().signal
    await converter.convert(${documentCode("'<p>x</p>'")}, never)
    if (${state === 'busy'}) void converter.convert(${documentCode("'<p>text <b>and</b> more</p>'.repeat(500_000)")}, never)
    setTimeout(() => console.log('ready'), ${state === 'busy' ? 500 : 0})`
  const service = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(createInterface(service.stdout), 'line')
  const children = childrenOf(service.pid ?? 0)
  expect(children).toHaveLength(1)
  service.kill('SIGKILL')
  await vi.waitFor(() => expect(children.filter(isAlive)).toEqual([]), { timeout: 1_500 })
})

describe('a child is started', () => {
  it.each([
    ["require('fs').readFileSync('/etc/passwd')", 'ERR_ACCESS_DENIED'],
    ["require('fs').readdirSync('/')", 'ERR_ACCESS_DENIED'],
    [`require('fs').writeFileSync('${process.cwd()}/src/fetcher/x', '')`, 'ERR_ACCESS_DENIED'],
    [`require('fs').readFileSync('${process.cwd()}/vitest.config.ts')`, 'ERR_ACCESS_DENIED'],
    ["require('child_process').execFileSync('id')", 'ERR_ACCESS_DENIED'],
    ["process.dlopen({}, 'x.node')", 'ERR_DLOPEN_DISABLED'],
    ['Object.keys(process.env).length', '0'],
  ])('without the right to %s', async (code, answer) => expect(await attempt(code)).toBe(answer))
})
