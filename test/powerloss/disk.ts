import assert from 'node:assert/strict'

import type { Random } from '../helpers/random.ts'
import type { Change, FileCall, FolderChange } from './call.ts'

/** Bytes that a disk writes in whole or not at all. */
const SECTOR_BYTES = 512

/** Bytes of a file, which stand at the beginning of a buffer with room for more. */
interface Content {
  bytes: Buffer
  length: number
}

/** A file, whichever name it has or had. */
interface Inode {
  /** What is on the disk for good. */
  readonly durable: Content
  /** What came since the last sync. */
  pending: Change[]
}

/**
 * What a power loss does to changes that no sync has made durable, given in the order in which they were made: the ones
 * that are on the disk afterwards.
 */
export type Fate = <T extends Change | FolderChange>(pending: readonly T[]) => T[]

/** Contents by name. */
export type Files = ReadonlyMap<string, Buffer>

/** The files of one folder as the system holds them and as they are on the disk. */
export interface Disk {
  apply(call: FileCall): void
  /** The files as they are after a power loss at this moment. */
  afterPowerLoss(fate: Fate): Files
}

/**
 * A disk that promises no more than POSIX does. Before a sync of a file, any part of what was written to it may be on
 * the disk, in any order. Before a sync of the folder, a file that was created may have no name yet, and one that was
 * removed may still have its own. A file that is synced keeps its content even so, for whenever its name is durable.
 * @param ignoresSync files whose syncs do nothing, as on a disk that lies.
 */
export function createDisk(ignoresSync: (name: string) => boolean = () => false): Disk {
  const files = new Map<string, Inode>()
  const durableNames = new Map<string, Inode>()
  let pendingNames: (FolderChange & { readonly inode: Inode })[] = []

  function file(name: string): Inode {
    const inode = files.get(name)
    assert(inode, `${name} was never created`)
    return inode
  }

  function changeName(kind: 'create' | 'remove', name: string): void {
    if (kind === 'create' && files.has(name)) return
    const inode = kind === 'create' ? { durable: { bytes: Buffer.of(), length: 0 }, pending: [] } : file(name)
    if (kind === 'create') files.set(name, inode)
    else files.delete(name)
    pendingNames.push({ kind, name, inode })
  }

  function sync(name: string): void {
    if (name === '') {
      rename(durableNames, pendingNames)
      pendingNames = []
    } else if (!ignoresSync(name)) {
      const inode = file(name)
      write(inode.durable, inode.pending)
      inode.pending = []
    }
  }

  return {
    apply(call) {
      if (call.kind === 'sync') sync(call.name)
      else if (call.kind === 'write' || call.kind === 'truncate') file(call.name).pending.push(call)
      else changeName(call.kind, call.name)
    },
    afterPowerLoss(fate) {
      const names = new Map(durableNames)
      rename(names, fate(pendingNames))
      return new Map(
        [...names].map(([name, { durable, pending }]) => {
          const content = { bytes: Buffer.from(view(durable)), length: durable.length }
          write(content, fate(pending))
          return [name, view(content)]
        }),
      )
    },
  }
}

/** Everything arrived, as when only the process dies. */
export const KEPT: Fate = (pending) => [...pending]

/** Each way in which a power loss goes, by name. */
export const FATES = {
  kept: () => KEPT,
  dropped: () => () => [],
  'cut off, the last write torn': (random) => (pending) => {
    const length = random.whole(0, pending.length)
    return [...pending.slice(0, length), ...pending.slice(length, length + 1).flatMap((change) => torn(change, random))]
  },
  'some writes kept': (random) => (pending) => pending.filter(() => random.chance(0.5)),
  'some sectors kept': (random) => (pending) => pending.flatMap(toSectors).filter(() => random.chance(0.5)),
} as const satisfies Record<string, (random: Random) => Fate>

function torn<T extends Change | FolderChange>(change: T, random: Random): T[] {
  const sectors = toSectors(change)
  return sectors.slice(0, random.whole(0, sectors.length - 1))
}

/** A write in pieces that end where sectors of the file do; of anything else, itself. */
function toSectors<T extends Change | FolderChange>(change: T): T[] {
  if (change.kind !== 'write') return [change]
  const sectors: T[] = []
  for (let start = 0; start < change.data.length;) {
    const end = start + SECTOR_BYTES - ((change.offset + start) % SECTOR_BYTES)
    sectors.push({ ...change, offset: change.offset + start, data: change.data.subarray(start, end) })
    start = end
  }
  return sectors
}

function view({ bytes, length }: Content): Buffer {
  return bytes.subarray(0, length)
}

function write(content: Content, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.kind === 'truncate') resize(content, change.length)
    else {
      const { offset, data } = change
      if (offset + data.length > content.length) resize(content, offset + data.length)
      content.bytes.set(data, offset)
    }
  }
}

/** What is new between the old end and the new one is zero. */
function resize(content: Content, length: number): void {
  if (length > content.bytes.length) {
    const roomier = Buffer.alloc(Math.max(length, 2 * content.bytes.length))
    roomier.set(view(content))
    content.bytes = roomier
  } else if (length > content.length) content.bytes.fill(0, content.length, length)
  content.length = length
}

function rename(names: Map<string, Inode>, changes: readonly (FolderChange & { readonly inode: Inode })[]): void {
  for (const { kind, name, inode } of changes) {
    if (kind === 'create') names.set(name, inode)
    else if (names.get(name) === inode) names.delete(name)
  }
}
