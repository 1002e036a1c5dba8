import { crc32, deflateRawSync } from 'node:zlib'

/** How an archive differs from a sound one. */
interface Faults {
  /** Bytes that the directory says each entry has once it is unpacked. */
  readonly claimedBytes?: number
  readonly isEncrypted?: boolean
  readonly method?: number
}

/** A ZIP archive of these entries, in their order. */
export function zipFile(entries: Readonly<Record<string, string | Uint8Array>>, faults: Faults = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(entries)) {
    const data = Buffer.from(content)
    const packed = deflateRawSync(data)
    const fields = fieldsOf(name, data, packed, faults)
    const local = Buffer.concat([uint32(0x0403_4b50), fields, Buffer.from(name), packed])
    const place = [uint16(0), uint16(0), uint16(0), uint32(0), uint32(offset)]
    directory.push(Buffer.concat([uint32(0x0201_4b50), uint16(20), fields, ...place, Buffer.from(name)]))
    parts.push(local)
    offset += local.length
  }
  const list = Buffer.concat(directory)
  const counts = [uint16(0), uint16(0), uint16(directory.length), uint16(directory.length)]
  const end = Buffer.concat([uint32(0x0605_4b50), ...counts, uint32(list.length), uint32(offset), uint16(0)])
  return Buffer.concat([...parts, list, end])
}

/** From the version that is needed to the length of the extra field: what both headers of an entry share. */
function fieldsOf(name: string, data: Buffer, packed: Buffer, faults: Faults): Buffer {
  const { claimedBytes = data.length, isEncrypted = false, method = 8 } = faults
  const head = [uint16(20), uint16(isEncrypted ? 1 : 0), uint16(method), uint32(0), uint32(crc32(data))]
  return Buffer.concat([
    ...head,
    uint32(packed.length),
    uint32(claimedBytes),
    uint16(Buffer.byteLength(name)),
    uint16(0),
  ])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}
