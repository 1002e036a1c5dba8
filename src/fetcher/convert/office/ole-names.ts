/** Bytes of an entry in the directory of an OLE file. Sectors are a multiple of it, so entries stand on multiples. */
const ENTRY_BYTES = 128
const NAME_BYTES_AT = 64
const TYPE_AT = 66
/** Storage, stream and root; 0 is an entry that is not in use. */
const TYPES = new Set([1, 2, 5])
const NAME_BYTES_MAX = 64
/** The names that tell what an OLE file is are among the first. */
const NAMES_MAX = 2_000

/**
 * The names of the streams in an OLE compound file. Directory entries are found by their shape, so that a file whose
 * sector chains are damaged, or made to run in circles, is read as well as any other.
 */
export function oleNames(body: Uint8Array): ReadonlySet<string> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const names = new Set<string>()
  for (let at = 0; at + ENTRY_BYTES <= bytes.length && names.size < NAMES_MAX; at += ENTRY_BYTES) {
    const nameBytes = bytes.readUInt16LE(at + NAME_BYTES_AT)
    if (nameBytes < 4 || nameBytes > NAME_BYTES_MAX || nameBytes % 2 !== 0) continue
    if (!TYPES.has(bytes.readUInt8(at + TYPE_AT)) || bytes.readUInt16LE(at + nameBytes - 2) !== 0) continue
    names.add(bytes.toString('utf16le', at, at + nameBytes - 2))
  }
  return names
}
