import { gzipSync } from 'node:zlib'

import { expect, it } from 'vitest'

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
