import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isIP } from 'node:net'

import { withoutDot } from './host-names.ts'

/** Milliseconds between two looks at whether the file has changed. */
const FRESH_MS = 5_000
/** Bytes that are read of it: thousands of lines. What follows does not count. */
const BYTES_MAX = 262_144

type Names = ReadonlyMap<string, readonly string[]>

/**
 * Gives the addresses that the hosts file has for a name, those of IPv4 first; none for a name that is not in it. A file
 * that is not there or cannot be read has no names. It is read again once it has changed, without the threads of Node,
 * which may all be taken.
 * @param now milliseconds of a clock that never goes back.
 */
export function createHostsFile(
  file: string,
  now: () => number = () => performance.now(),
): (host: string) => readonly string[] {
  let names: Names = new Map()
  let version = ''
  let lookedAt = -Infinity

  function look(): void {
    lookedAt = now()
    const fd = openSync(file, 'r')
    try {
      const { ino, mtimeMs, size } = fstatSync(fd)
      const found = `${ino} ${mtimeMs} ${size}`
      if (found === version) return
      names = parseHosts(readStart(fd))
      version = found
    } finally {
      closeSync(fd)
    }
  }

  return (host) => {
    if (now() - lookedAt >= FRESH_MS) {
      try {
        look()
      } catch {
        names = new Map()
        version = ''
      }
    }
    return names.get(withoutDot(host)) ?? []
  }
}

function readStart(fd: number): string {
  const bytes = Buffer.alloc(BYTES_MAX)
  const length = readSync(fd, bytes, 0, BYTES_MAX, 0)
  const end = length < BYTES_MAX ? length : bytes.lastIndexOf('\n') // Half a line would be another name.
  return bytes.toString('utf8', 0, Math.max(end, 0))
}

/** An address with a zone is left out: it says less than which machine it means. */
function parseHosts(text: string): Names {
  const names = new Map<string, Set<string>>()
  for (const line of text.split('\n')) {
    const [address = '', ...hosts] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    if (isIP(address) === 0 || address.includes('%')) continue
    for (const host of hosts.map(withoutDot)) {
      const addresses = names.get(host) ?? new Set()
      names.set(host, addresses.add(address))
    }
  }
  return new Map([...names].map(([host, addresses]) => [host, [...addresses].toSorted(byFamily)]))
}

const byFamily = (one: string, other: string) => isIP(one) - isIP(other)
