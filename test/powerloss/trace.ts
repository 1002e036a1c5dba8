import { createReadStream } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'

import type { Call, FileCall, Send } from './call.ts'

/** Calls that write to files or sockets. Those that SQLite does not use today are listed so that they do not go unseen. */
const TRACED = [
  'openat,pwrite64,ftruncate,unlink,fsync,fdatasync,write,writev',
  'sendto,sendmsg,pwritev,pwritev2,truncate,fallocate,sync_file_range,unlinkat,rename,renameat,renameat2,link,linkat',
].join(',')
/** Bytes of one call that are recorded. */
const DATA_BYTES_MAX = 33_554_432

/** How an HTTP response starts, in a trace. */
const RESPONSE_START = `"${Buffer.from('HTTP/1.1 ')
  .toString('hex')
  .replaceAll(/../g, String.raw`\x$&`)}`
/**
 * The command that runs `command` and records its calls in `file`. SQLite and the sockets of the service are used by its
 * main thread alone, which is all that is traced, so that the order of the lines is the order of the calls. `-D` makes
 * the traced process the child of ours.
 */
export function traced(file: string, command: readonly string[]): string[] {
  const print = ['-q', '-y', '-ttt', '-xx', '-a', '1', '-s', String(DATA_BYTES_MAX), '-e', 'signal=none']
  return ['strace', '-D', ...print, '-e', `trace=${TRACED}`, '-o', file, ...command]
}

/**
 * The calls that a trace holds on the files of `folder`, but for the index of the log in shared memory, which is made
 * anew after a crash, and on the sockets of its clients.
 * @throws {Error} for a call on these files that the replay does not know.
 */
export async function readTrace(file: string, folder: string): Promise<Call[]> {
  const calls: Call[] = []
  const clients = new Set<string>()
  for await (const line of createInterface({ input: createReadStream(file, 'latin1') })) {
    const call = toCall(line, { folder, clients })
    if (call && !('name' in call && call.name.endsWith('-shm'))) calls.push(call)
  }
  return calls
}

interface Known {
  readonly folder: string
  /** Sockets on which an HTTP response has gone out. */
  readonly clients: Set<string>
}

/** A line is `seconds call(arguments) = result`, with every string, path and byte in hexadecimal. */
function toCall(line: string, known: Known): Call | undefined {
  const end = line.lastIndexOf(') = ')
  const start = line.indexOf('(')
  if (end < 0 || start < 0) return undefined
  const [time = '', call = ''] = line.slice(0, start).split(' ')
  const args = line.slice(start + 1, end)
  const result = line.slice(end + ') = '.length)
  if (result.startsWith('-1')) return undefined
  const isCutOff = result.startsWith('?')
  const made = toChange(call, args, isCutOff ? Infinity : Number.parseInt(result), known)
  return made && { ...made, atMs: Math.trunc(Number(time) * 1_000), isCutOff }
}

/** @param count what the call returned: of a write, the bytes that were written. */
function toChange(call: string, args: string, count: number, { folder, clients }: Known): FileCall | Send | undefined {
  const target = call.startsWith('unlink') ? strings(args)[0]?.toString() : pathOf(args)
  if (target?.startsWith('socket:') && /^(?:write|send)/.test(call)) {
    if (args.includes(RESPONSE_START)) clients.add(target)
    if (!clients.has(target)) return undefined
    return { kind: 'send', socket: target, data: Buffer.concat(strings(args)).subarray(0, count) }
  }
  if (call === 'openat') {
    const opened = strings(args)[0]?.toString() ?? ''
    if (!args.includes('O_CREAT') || path.dirname(opened) !== folder) return undefined
    return { kind: 'create', name: path.basename(opened) }
  }
  if (target === folder && call === 'fsync') return { kind: 'sync', name: '' }
  if (target === undefined || path.dirname(target) !== folder) return undefined
  const name = path.basename(target)
  const lastNumber = Number(args.slice(args.lastIndexOf(',') + 1))
  if (call === 'pwrite64') {
    return { kind: 'write', name, offset: lastNumber, data: Buffer.concat(strings(args)).subarray(0, count) }
  }
  if (call === 'ftruncate') return { kind: 'truncate', name, length: lastNumber }
  if (call === 'fsync' || call === 'fdatasync') return { kind: 'sync', name }
  if (call === 'unlink') return { kind: 'remove', name }
  throw new Error(`The replay does not know ${call} on ${name}.`)
}

/** The path of the descriptor that is the first argument: `7<\x2f\x74…>`. */
function pathOf(args: string): string | undefined {
  const start = args.indexOf('<')
  return start < 0 ? undefined : bytes(args.slice(start + 1, args.indexOf('>', start))).toString()
}

/** Found by search, as a regular expression would not bear strings of megabytes. */
function strings(args: string): Buffer[] {
  const found: Buffer[] = []
  for (let start = args.indexOf('"'); start >= 0;) {
    const end = args.indexOf('"', start + 1)
    found.push(bytes(args.slice(start + 1, end)))
    start = args.indexOf('"', end + 1)
  }
  return found
}

function bytes(hexadecimal: string): Buffer {
  return Buffer.from(hexadecimal.replaceAll(String.raw`\x`, ''), 'hex')
}
