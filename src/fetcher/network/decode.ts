import { PassThrough, type Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'

import { TargetError } from '../../jobs/target-error.ts'
import { collect } from './collect.ts'

/** What requests say they accept: the codings below. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd'

/** Codings on one body. Two occur, by accident; more are an attack on the decoder. */
const CODINGS_MAX = 3
/** Window of zstd in bits: 8 MiB, the most that a server may ask for (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23

/** Of what decoders give at a time. */
const CHUNK = { chunkSize: 64 * 1024 }

/** @param body of which the first bytes tell dialects apart. */
type CreateDecoder = (body: Buffer) => Transform

const CODINGS: Readonly<Record<string, CreateDecoder>> = {
  gzip: () => createGunzip(CHUNK),
  'x-gzip': () => createGunzip(CHUNK),
  // The standard means zlib, many servers send bare deflate; the first byte of zlib says 8 in its low half.
  deflate: (body) => (((body[0] ?? 0) & 0x0f) === 8 ? createInflate(CHUNK) : createInflateRaw(CHUNK)),
  br: () => createBrotliDecompress(CHUNK),
  zstd: () => createZstdDecompress({ ...CHUNK, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
  identity: () => new PassThrough(),
}

/** Settles when the bodies that came before are unpacked. */
let earlier: Promise<unknown> = Promise.resolve()

/**
 * Undoes the codings that a `Content-Encoding` header names. An empty body stays empty, whatever the header says.
 * One body is unpacked at a time, which takes a fraction of a second: all that bombs unpack to would add up.
 * @param bytesMax of each step. Memory stays within two of it.
 * @throws {TargetError} `too_large`; `bad_encoding` for a coding that is not known, or too many.
 * @throws the errors of zlib for a damaged body.
 */
export function decodeBody(body: Buffer, contentEncoding: string, bytesMax: number): Promise<Buffer> {
  if (contentEncoding === '') return Promise.resolve(body)
  const decoded = earlier.then(() => unpack(body, contentEncoding, bytesMax))
  const settled = () => undefined // Keeps nothing of it.
  earlier = decoded.then(settled, settled)
  return decoded
}

async function unpack(body: Buffer, contentEncoding: string, bytesMax: number): Promise<Buffer> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .flatMap((name) => name.trim() || [])
  if (codings.length > CODINGS_MAX) throw badEncoding('compressed too often')
  let decoded = body
  for (const coding of codings.toReversed()) {
    const createDecoder = Object.hasOwn(CODINGS, coding) ? CODINGS[coding] : undefined
    if (createDecoder === undefined) throw badEncoding('in a coding that is not known')
    if (decoded.byteLength > 0) decoded = await collect(createDecoder(decoded).end(decoded), bytesMax)
  }
  return decoded
}

const badEncoding = (how: string) => new TargetError('bad_encoding', `The body of the answer is ${how}.`)
