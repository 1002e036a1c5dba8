import { PassThrough } from 'node:stream'
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
/** Frames of a body of zstd: each takes half a millisecond, whatever is in it. */
const ZSTD_FRAMES_MAX = 1_024

/** Of what decoders give at a time. */
const CHUNK = { chunkSize: 64 * 1024 }

type Decode = (body: Buffer) => AsyncIterable<Uint8Array>

/** What stands behind the end of a body is ignored, as browsers do; behind that of gzip, Node ignores zeros alone. */
const CODINGS: Readonly<Record<string, Decode>> = {
  gzip: (body) => createGunzip(CHUNK).end(body),
  'x-gzip': (body) => createGunzip(CHUNK).end(body),
  // The standard means zlib, many servers send bare deflate; the first byte of zlib says 8 in its low half.
  deflate: (body) => (((body[0] ?? 0) & 0x0f) === 8 ? createInflate(CHUNK) : createInflateRaw(CHUNK)).end(body),
  br: (body) => createBrotliDecompress(CHUNK).end(body),
  zstd: decodeZstd,
  identity: (body) => new PassThrough().end(body),
}

/** A body of zstd is one frame or several, some of which may hold nothing (RFC 8878). Node's decoder ends with the first. */
async function* decodeZstd(body: Buffer): AsyncGenerator<Uint8Array> {
  let rest = body
  for (let frames = 1; frames === 1 || beginsFrame(rest); frames += 1) {
    if (frames > ZSTD_FRAMES_MAX) throw badEncoding('in too many pieces')
    const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX }
    const decoder = createZstdDecompress({ ...CHUNK, params })
    yield* decoder.end(rest) as AsyncIterable<Uint8Array>
    rest = rest.subarray(decoder.bytesWritten)
  }
}

function beginsFrame(bytes: Buffer): boolean {
  if (bytes.byteLength < 4) return false
  const magic = bytes.readUInt32LE()
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5
}

/** Settles when the bodies that came before are unpacked. */
let earlier: Promise<unknown> = Promise.resolve()

/**
 * Undoes the codings that a `Content-Encoding` header names. An empty body stays empty, whatever the header says.
 * One body is unpacked at a time, which takes a fraction of a second: all that bombs unpack to would add up.
 * @param bytesMax of each step. Memory stays within two of it.
 * @throws {TargetError} `too_large`; `bad_encoding` for a coding that is not known, or too many of codings or frames.
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
    const decode = Object.hasOwn(CODINGS, coding) ? CODINGS[coding] : undefined
    if (decode === undefined) throw badEncoding('in a coding that is not known')
    if (decoded.byteLength > 0) decoded = await collect(decode(decoded), bytesMax)
  }
  return decoded
}

const badEncoding = (how: string) => new TargetError('bad_encoding', `The body of the answer is ${how}.`)
