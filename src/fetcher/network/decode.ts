import { promisify } from 'node:util'
import {
  brotliDecompress,
  constants,
  gunzip,
  inflate,
  inflateRaw,
  type InputType,
  type ZlibOptions,
  zstdDecompress,
} from 'node:zlib'

import { TargetError } from '../../jobs/target-error.ts'

/** What requests say they accept: the codings below. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd'

/** Codings on one body. Two occur, by accident; more are an attack on the decoder. */
const CODINGS_MAX = 3
/** Window of zstd in bits: 8 MiB, the most that a server may ask for (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23

type Decode = (body: Buffer, bytesMax: number) => Promise<Buffer>

const gzip: Decode = (body, bytesMax) =>
  promisify<InputType, ZlibOptions, Buffer>(gunzip)(body, { maxOutputLength: bytesMax })

const CODINGS: Readonly<Record<string, Decode>> = {
  gzip,
  'x-gzip': gzip,
  // The standard means zlib, many servers send bare deflate; the first byte of zlib says 8 in its low half.
  deflate: (body, bytesMax) =>
    promisify<InputType, ZlibOptions, Buffer>(((body[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw)(body, {
      maxOutputLength: bytesMax,
    }),
  br: (body, bytesMax) => promisify(brotliDecompress)(body, { maxOutputLength: bytesMax }),
  zstd: (body, bytesMax) =>
    promisify(zstdDecompress)(body, {
      maxOutputLength: bytesMax,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
    }),
  identity: (body) => Promise.resolve(body),
}

/**
 * Undoes the codings that a `Content-Encoding` header names. An empty body stays empty, whatever the header says.
 * @param bytesMax of each step. Memory stays within two of it.
 * @throws {TargetError} `bad_encoding` for a coding that is not known, or too many.
 * @throws the errors of zlib for a damaged body, and `ERR_BUFFER_TOO_LARGE`.
 */
export async function decodeBody(body: Buffer, contentEncoding: string, bytesMax: number): Promise<Buffer> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .flatMap((name) => name.trim() || [])
  if (codings.length > CODINGS_MAX) throw badEncoding('compressed too often')
  let decoded = body
  for (const coding of codings.toReversed()) {
    const decode = Object.hasOwn(CODINGS, coding) ? CODINGS[coding] : undefined
    if (decode === undefined) throw badEncoding('in a coding that is not known')
    if (decoded.byteLength > 0) decoded = await decode(decoded, bytesMax)
  }
  return decoded
}

const badEncoding = (how: string) => new TargetError('bad_encoding', `The body of the answer is ${how}.`)
