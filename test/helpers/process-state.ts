import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Milliseconds of the unit in which Linux tells the processor time of a process. */
const TICK_MS = 10
const LISTENING = '0A'

/** A TCP socket that a process holds, in whatever state it is. */
export interface TcpSocket {
  readonly isListening: boolean
  readonly localPort: number
  /** 0 for one that listens. */
  readonly remotePort: number
}

// What Linux tells of a process in /proc. One that has ended holds and uses nothing.

/** Process ids of the children of a process. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => Number(statOf(id)[1]) === pid)
}

/** Bytes of a process that are in memory. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS')
}

/** Bytes of a process that have been in memory at a time, at most. */
export function mostResidentBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM')
}

/** Milliseconds of processor time that a process has used, without that of its children. */
export function processorMs(pid: number): number {
  const stat = statOf(pid)
  return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) * TICK_MS
}

/** What the open descriptors of a process lead to, such as `/data/jobs.db`, `socket:[1234]`, `pipe:[1234]`. */
export function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return list(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)]
    } catch {
      return [] // Closed meanwhile.
    }
  })
}

/** The TCP sockets among the open descriptors of a process. */
export function tcpSockets(pid: number): TcpSocket[] {
  const open = new Set(openFiles(pid))
  const rows = ['tcp', 'tcp6'].flatMap((table) => read(`/proc/${pid}/net/${table}`).split('\n').slice(1))
  return rows.flatMap((row) => {
    const [, local = '', remote = '', state, , , , , , inode] = row.trim().split(/\s+/)
    if (!open.has(`socket:[${inode}]`)) return []
    return [{ isListening: state === LISTENING, localPort: portOf(local), remotePort: portOf(remote) }]
  })
}

function statusBytes(pid: number, field: string): number {
  const [, kilobytes = 0] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(read(`/proc/${pid}/status`)) ?? []
  return Number(kilobytes) * 1_024
}

/** The fields behind the name of the program, which may hold blanks and brackets: its state, its parent, and so on. */
function statOf(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

const portOf = (address: string): number => Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16)

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
