import type { Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  createZstdCompress,
} from 'node:zlib'

const MEBIBYTE = 1024 * 1024
/** The quickest there is; what is packed here is simple. */
const QUICK = { level: 1 }
const QUICK_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

const PACKERS = {
  gzip: () => createGzip(),
  deflate: () => createDeflate(QUICK),
  'bare deflate': () => createDeflateRaw(QUICK),
  br: () => createBrotliCompress(QUICK_BROTLI),
  zstd: () => createZstdCompress(),
  'zstd with a wide window': () => createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 24 } }),
} satisfies Record<string, () => Transform>

type Packing = keyof typeof PACKERS

export const packed = (packing: Packing, body: string | Uint8Array): Promise<Buffer> =>
  buffer(PACKERS[packing]().end(Buffer.from(body as string)))

/** Zeros, which are never held unpacked. */
export async function packedZeros(packing: Packing, mebibytes: number): Promise<Buffer> {
  const packer = PACKERS[packing]()
  const all = buffer(packer)
  const piece = Buffer.alloc(MEBIBYTE)
  for (let count = 0; count < mebibytes; count += 1) {
    await new Promise((resolve) => packer.write(piece, resolve))
  }
  packer.end()
  return all
}

/** Zeros as gzip of many members, which is made in no time: each unpacks to 8 MiB, and has a thousandth of that. */
export async function gzipOfZeros(mebibytes: number): Promise<Buffer> {
  const member = await packedZeros('gzip', 8)
  return Buffer.concat(Array.from({ length: mebibytes / 8 }, () => member))
}
