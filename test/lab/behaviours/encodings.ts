import { message, page, send } from '../answers.ts'
import type { Behaviour } from '../behaviour.ts'
import { gzipOfZeros, packed, packedZeros } from '../packed.ts'

const CODINGS = ['gzip', 'deflate', 'br', 'zstd'] as const
const LAMPS = 'lamp '.repeat(1_000)
/** Size of a bomb once it is unpacked, in mebibytes. */
const BOMB_MIB = 200

/** Four bytes that say nothing, as a frame of zstd. */
const SKIPPABLE_FRAME = Buffer.from('502a4d180400000000000000', 'hex')

/** A page of plain text that is sent as it is, whatever the label says. */
const labelled = (coding: string, body: () => string | Promise<Uint8Array>) =>
  page('text/plain', body, `Content-Encoding: ${coding}`)

const bomb = (coding: (typeof CODINGS)[number]): Behaviour => ({
  name: `${coding}-bomb`,
  does: `Sends a small body of \`${coding}\` that unpacks to 200 MB.`,
  answer: labelled(coding, () => packedZeros(coding, BOMB_MIB)),
  expected: { outcome: 'too_large', requests: 1 },
})

const cutOff = (coding: (typeof CODINGS)[number]): Behaviour => ({
  name: `${coding}-cut-off`,
  does: `Sends a body of \`${coding}\` that lacks its end, with the length that it has.`,
  answer: labelled(coding, async () => (await packed(coding, LAMPS)).subarray(0, -6)),
  expected: { outcome: 'bad_encoding', requests: 1 },
})

/** Bodies that are compressed, or say so. */
export const ENCODINGS: readonly Behaviour[] = [
  ...CODINGS.map(bomb),
  {
    name: 'nested-bomb',
    does: 'Sends a small body of gzip in gzip that unpacks to 10 GB.',
    answer: labelled('gzip, gzip', async () => packed('gzip', await gzipOfZeros(50 * BOMB_MIB))),
    expected: { outcome: 'too_large', requests: 1 },
  },
  {
    name: 'mixed-bomb',
    does: 'Sends a small body of Brotli in gzip in zstd that unpacks to 200 MB.',
    answer: labelled('br, gzip, zstd', async () =>
      packed('zstd', await packed('gzip', await packedZeros('br', BOMB_MIB))),
    ),
    expected: { outcome: 'too_large', requests: 1 },
  },
  {
    name: 'bomb-behind-failure',
    does: 'Answers 404 with a page that unpacks to 200 MB.',
    answer: async (socket) =>
      send(socket, message('404 Not Found', ['Content-Encoding: gzip'], await gzipOfZeros(BOMB_MIB))),
    expected: { outcome: 'http_404', requests: 1 },
  },
  ...CODINGS.map(cutOff),
  {
    name: 'gzip-wrong-sum',
    does: 'Sends a gzip body with a wrong check sum.',
    answer: labelled('gzip', async () => {
      const body = await packed('gzip', LAMPS)
      return body.fill(0, body.length - 8, body.length - 4)
    }),
    expected: { outcome: 'bad_encoding', requests: 1 },
  },
  {
    name: 'plain-as-gzip',
    does: 'Says gzip, and sends plain text.',
    answer: labelled('gzip', () => LAMPS),
    expected: { outcome: 'bad_encoding', requests: 1 },
  },
  {
    name: 'gzip-as-br',
    does: 'Says Brotli, and sends gzip.',
    answer: labelled('br', () => packed('gzip', LAMPS)),
    expected: { outcome: 'bad_encoding', requests: 1 },
  },
  {
    name: 'gzip-as-plain',
    does: 'Sends gzip, and does not say so.',
    answer: page('text/plain', () => packed('gzip', LAMPS)),
    expected: { outcome: 'unsupported_type', requests: 1 },
  },
  {
    name: 'unknown-coding',
    does: 'Says a coding that nobody asked for.',
    answer: labelled('compress', () => LAMPS),
    expected: { outcome: 'bad_encoding', requests: 1 },
  },
  {
    name: 'too-many-codings',
    does: 'Says four codings.',
    answer: labelled('gzip, gzip, gzip, gzip', () => packed('gzip', LAMPS)),
    expected: { outcome: 'bad_encoding', requests: 1 },
  },
  {
    name: 'zstd-wide-window',
    does: 'Sends zstd that needs a window of more than 8 MB.',
    answer: labelled('zstd', () => packedZeros('zstd with a wide window', 17)),
    expected: { outcome: 'bad_encoding', requests: 1 },
  },
  {
    name: 'bare-deflate',
    does: 'Sends deflate without the header of zlib, as many servers do.',
    answer: labelled('deflate', () => packed('bare deflate', 'lamp')),
    expected: { outcome: 'done', content: 'lamp', requests: 1 },
  },
  {
    name: 'gzip-with-padding',
    does: 'Sends zeros behind the end of a gzip body.',
    answer: labelled('gzip', async () => Buffer.concat([await packed('gzip', 'lamp'), Buffer.alloc(64)])),
    expected: { outcome: 'done', content: 'lamp', requests: 1 },
  },
  {
    name: 'zstd-of-several-frames',
    does: 'Sends zstd in several frames, the first of which is one to be skipped.',
    answer: labelled('zstd', async () =>
      Buffer.concat([SKIPPABLE_FRAME, await packed('zstd', 'lamp '), await packed('zstd', 'bell')]),
    ),
    expected: { outcome: 'done', content: 'lamp bell', requests: 1 },
  },
]
