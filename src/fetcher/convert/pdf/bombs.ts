import { inflateSync, constants } from 'node:zlib'

const MEGABYTE = 1024 * 1024
/** Bytes that one packed part of a document may unpack to. The largest drawings of real documents stay below it. */
export const UNPACKED_BYTES_MAX = 64 * MEGABYTE
/** Bytes unpacked in all to look for bombs. What comes after is left to the limits of the process. */
const LOOKED_AT_BYTES_MAX = 8 * UNPACKED_BYTES_MAX
/** Deflate makes no more than this of a byte. */
const EXPANSION_MAX = 1_032
/** Packings around each other that are looked through. */
const LAYERS_MAX = 8
/** Characters of a dictionary before its stream. */
const DICTIONARY_LENGTH_MAX = 4_096

/**
 * Spoils, in place, each stream that unpacks to more than `UNPACKED_BYTES_MAX`, so that reading it is an error at once.
 * Returns how many. Pictures are let alone: they are never unpacked.
 */
export function dropBombs(file: Buffer): number {
  const text = file.toString('latin1')
  const starts = /(?<!end)stream\r?\n/g
  let bombs = 0
  let budget = LOOKED_AT_BYTES_MAX
  for (let match = starts.exec(text); match !== null && budget > 0; match = starts.exec(text)) {
    const start = starts.lastIndex
    const layers = deflateLayers(text, match.index)
    if (layers === 0) continue
    const end = text.indexOf('endstream', start)
    const packed = file.subarray(start, end === -1 ? file.length : end)
    if (layers === 1 && packed.length * EXPANSION_MAX <= UNPACKED_BYTES_MAX) continue
    const unpackedBytes = unpack(packed, layers)
    budget -= Math.min(unpackedBytes, UNPACKED_BYTES_MAX)
    if (unpackedBytes <= UNPACKED_BYTES_MAX) continue
    file.fill(0, start, start + 2)
    bombs += 1
  }
  return bombs
}

/** How often the stream that begins at `at` is packed; 0 for pictures. */
function deflateLayers(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - DICTIONARY_LENGTH_MAX), at)
  const dictionary = before.slice(before.lastIndexOf('obj') + 1)
  if (/\/Subtype\s*\/Image\b/.test(dictionary)) return 0
  return Math.min(dictionary.match(/\/(?:FlateDecode|Fl)\b/g)?.length ?? 0, LAYERS_MAX)
}

/** Bytes that the layers unpack to; infinite if any of them is above the limit, 0 if it cannot be unpacked. */
function unpack(packed: Uint8Array, layers: number): number {
  let data = packed
  try {
    for (let layer = 0; layer < layers; layer += 1) {
      data = inflateSync(data, { maxOutputLength: UNPACKED_BYTES_MAX, finishFlush: constants.Z_SYNC_FLUSH })
    }
    return data.length
  } catch (error) {
    return error instanceof RangeError ? Infinity : 0
  }
}
