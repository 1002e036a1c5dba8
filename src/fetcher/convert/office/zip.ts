import { inflateRawSync } from 'node:zlib'

import { OfficeError } from './office-error.ts'

/** Entries of an archive; documents with one for each picture have some thousand. */
const ENTRIES_MAX = 20_000
/** Bytes that all the parts read from one archive may have together. */
export const INFLATED_BYTES_MAX = 100 * 1024 * 1024

const END_SIGNATURE = 0x0605_4b50
const END_BYTES = 22
const COMMENT_BYTES_MAX = 0xffff
const ENTRY_SIGNATURE = 0x0201_4b50
const ENTRY_BYTES = 46
const HEADER_SIGNATURE = 0x0403_4b50
const HEADER_BYTES = 30
const ZIP64_EXTRA = 1
const IN_ZIP64 = 0xffff_ffff
const STORED = 0
const DEFLATED = 8
const ENCRYPTED_FLAG = 1

interface Entry {
  readonly isEncrypted: boolean
  readonly method: number
  readonly packedBytes: number
  readonly bytes: number
  /** Where the header that stands before the data begins. */
  readonly at: number
}

/** A ZIP archive in memory. Names are compared without regard to case, as readers of office documents do. */
export class ZipArchive {
  readonly #body: Buffer
  readonly #entries: ReadonlyMap<string, Entry>
  #bytesLeft = INFLATED_BYTES_MAX

  /** @throws {OfficeError} `bad_document` if the directory of the archive is missing, damaged or too long. */
  constructor(body: Uint8Array) {
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    this.#entries = readDirectory(this.#body)
  }

  /** In lower case. */
  get names(): Iterable<string> {
    return this.#entries.keys()
  }

  has(name: string): boolean {
    return this.#entries.has(keyOf(name))
  }

  /**
   * The bytes of a part; undefined if there is none. The size that the directory tells is checked first, and the true
   * one while the part is inflated.
   * @throws {OfficeError} `bad_document`, `password_protected`
   */
  read(name: string): Uint8Array | undefined {
    const entry = this.#entries.get(keyOf(name))
    if (entry === undefined) return undefined
    if (entry.isEncrypted) throw new OfficeError('password_protected', 'The document is protected by a password.')
    if (entry.bytes > this.#bytesLeft) throw tooLarge()
    const part = this.#inflate(entry, name)
    this.#bytesLeft -= part.byteLength
    return part
  }

  #inflate({ at, method, packedBytes }: Entry, name: string): Uint8Array {
    const body = this.#body
    if (at + HEADER_BYTES > body.length || body.readUInt32LE(at) !== HEADER_SIGNATURE) throw damaged()
    const start = at + HEADER_BYTES + body.readUInt16LE(at + 26) + body.readUInt16LE(at + 28)
    if (start + packedBytes > body.length) throw damaged()
    const packed = body.subarray(start, start + packedBytes)
    if (method === STORED && packedBytes <= this.#bytesLeft) return packed
    if (method !== DEFLATED) {
      throw new OfficeError('bad_document', `Part ${name} of the document is packed in a way that is not supported.`)
    }
    try {
      return inflateRawSync(packed, { maxOutputLength: Math.max(1, this.#bytesLeft) })
    } catch (error) {
      throw error instanceof RangeError ? tooLarge() : damaged()
    }
  }
}

const keyOf = (name: string) => name.replace(/^\/+/, '').toLowerCase()

const damaged = () => new OfficeError('bad_document', 'The document is damaged: its archive cannot be read.')
const tooLarge = () =>
  new OfficeError(
    'bad_document',
    `The document unpacks to more than ${INFLATED_BYTES_MAX / 1024 / 1024} MB; that much is not read.`,
  )

function readDirectory(body: Buffer): Map<string, Entry> {
  const end = endRecordAt(body)
  const count = body.readUInt16LE(end + 10)
  if (count > ENTRIES_MAX) throw new OfficeError('bad_document', `The archive has more than ${ENTRIES_MAX} entries.`)
  const entries = new Map<string, Entry>()
  let at = body.readUInt32LE(end + 16)
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > body.length || body.readUInt32LE(at) !== ENTRY_SIGNATURE) throw damaged()
    const nameEnd = at + ENTRY_BYTES + body.readUInt16LE(at + 28)
    const extraEnd = nameEnd + body.readUInt16LE(at + 30)
    const name = keyOf(body.toString('utf8', at + ENTRY_BYTES, nameEnd).replaceAll('\\', '/'))
    if (!entries.has(name)) entries.set(name, readEntry(body, at, body.subarray(nameEnd, extraEnd)))
    at = extraEnd + body.readUInt16LE(at + 32)
  }
  return entries
}

/** The record at the end of the archive, in front of a comment at most. */
function endRecordAt(body: Buffer): number {
  const first = Math.max(0, body.length - END_BYTES - COMMENT_BYTES_MAX)
  for (let at = body.length - END_BYTES; at >= first; at -= 1) {
    if (body.readUInt32LE(at) === END_SIGNATURE) return at
  }
  throw damaged()
}

/** Sizes that do not fit stand in an extra field (ZIP64), in this order and only where they are needed. */
function readEntry(body: Buffer, at: number, extra: Buffer): Entry {
  const wide = zip64Values(extra)
  const sizeAt = (offset: number) => {
    const value = body.readUInt32LE(offset)
    return value === IN_ZIP64 ? Number(wide.shift() ?? value) : value
  }
  const bytes = sizeAt(at + 24)
  const packedBytes = sizeAt(at + 20)
  const isEncrypted = (body.readUInt16LE(at + 8) & ENCRYPTED_FLAG) !== 0
  return { isEncrypted, method: body.readUInt16LE(at + 10), packedBytes, bytes, at: sizeAt(at + 42) }
}

function zip64Values(extra: Buffer): bigint[] {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = Math.min(extra.length, at + 4 + extra.readUInt16LE(at + 2))
    if (extra.readUInt16LE(at) === ZIP64_EXTRA) {
      const values: bigint[] = []
      for (let value = at + 4; value + 8 <= end; value += 8) values.push(extra.readBigUInt64LE(value))
      return values
    }
    at = end
  }
  return []
}
