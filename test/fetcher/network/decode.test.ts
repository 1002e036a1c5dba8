import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { decodeBody } from '../../../src/fetcher/network/decode.ts'

const MEBIBYTE = 1024 * 1024

it('unpacks one body after the other, so that bombs do not add up, and goes on after each', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE))
  const order: string[] = []
  const unpack = (name: string, body: Buffer) =>
    decodeBody(body, 'gzip', 25 * MEBIBYTE).then(
      (decoded) => order.push(`${name}: ${decoded.toString()}`),
      ({ code }: { code: string }) => order.push(`${name}: ${code}`),
    )
  await Promise.all([
    unpack('first', bomb),
    unpack('second', gzipSync('lamp')),
    unpack('third', Buffer.from('no gzip')),
    unpack('fourth', gzipSync('bell')),
  ])
  expect(order).toEqual(['first: too_large', 'second: lamp', 'third: Z_DATA_ERROR', 'fourth: bell'])
})

it('gives what is not packed as it is, without waiting', async () => {
  const body = Buffer.from('lamp')
  expect(await decodeBody(body, '', MEBIBYTE)).toBe(body)
})

/** A frame of zstd that holds nothing for the reader. */
const skippable = (last: number) => Buffer.from([0x50 | last, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7])
const frames = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? zstdCompressSync(part) : part)))
const unzstd = (body: Buffer, bytesMax = MEBIBYTE) => decodeBody(body, 'zstd', bytesMax)

describe('a body of zstd', () => {
  it.each<[string, Buffer]>([
    ['of several frames', frames('la', 'm', 'p')],
    ['of frames some of which are empty', frames('', 'lam', '', '', 'p', '')],
    ['with frames to be skipped', frames(skippable(0), 'lam', skippable(7), skippable(15), 'p', skippable(0))],
    ['with zeros behind it', frames('lamp', Buffer.alloc(64))],
    ['with less than the begin of a frame behind it', frames('lamp', Buffer.from([0x28, 0xb5, 0x2f]))],
  ])('%s is read to its end', async (_, body) => {
    expect((await unzstd(body)).toString()).toBe('lamp')
  })

  it('of large frames, too', async () => {
    const part = Buffer.alloc(MEBIBYTE, 'lamp bell ')
    const body = frames(zstdCompressSync(part), zstdCompressSync(part))
    expect((await unzstd(body, 2 * MEBIBYTE)).equals(Buffer.concat([part, part]))).toBe(true)
    await expect(unzstd(body, 2 * MEBIBYTE - 1)).rejects.toMatchObject({ code: 'too_large' })
  })

  it.each<[string, Buffer]>([
    ['its second frame is cut off', frames('lamp', zstdCompressSync('bell').subarray(0, -2))],
    ['its frame to be skipped is cut off', frames('lamp', skippable(0).subarray(0, -1))],
    ['its second frame is damaged', frames('lamp', zstdCompressSync('bell').fill(0xff, 4))],
  ])('is damaged if %s', async (_, body) => {
    await expect(unzstd(body)).rejects.toMatchObject({ code: expect.stringMatching(/^(?:Z_|ZSTD_error_)/) })
  })

  it('has 1,024 frames at most', async () => {
    const many = Array.from({ length: 1_023 }, () => skippable(0))
    expect((await unzstd(frames(...many, 'lamp'))).toString()).toBe('lamp')
    await expect(unzstd(frames(...many, 'lamp', 'bell'))).rejects.toMatchObject({ code: 'bad_encoding' })
  })
})

it.each([
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['zstd', zstdCompressSync],
])('ignores what stands behind the end of a body: %s', async (coding, compress) => {
  const body = Buffer.concat([compress('lamp'), Buffer.from('bell')])
  expect((await decodeBody(body, coding, MEBIBYTE)).toString()).toBe('lamp')
})
