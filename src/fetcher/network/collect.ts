import { TargetError } from '../../jobs/target-error.ts'

/**
 * Takes in a body, at most `bytesMax` bytes of it. It is copied into memory that grows where it is: as a list, a million
 * chunks of a byte each would take a hundred times the space. That memory goes back to the system at once, not when
 * garbage is collected next, so that many large bodies do not add up.
 * @throws {TargetError} `too_large`
 * @throws what the source throws.
 */
export async function collect(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const memory = new ArrayBuffer(0, { maxByteLength: bytesMax })
  let length = 0
  try {
    for await (const chunk of chunks) {
      const end = length + chunk.byteLength
      if (end > bytesMax) throw tooLarge(bytesMax)
      if (end > memory.byteLength) memory.resize(Math.min(bytesMax, Math.max(end, memory.byteLength * 2)))
      new Uint8Array(memory).set(chunk, length)
      length = end
    }
    return Buffer.from(new Uint8Array(memory, 0, length))
  } finally {
    memory.transferToFixedLength(0)
  }
}

export const tooLarge = (bytesMax: number): TargetError =>
  new TargetError('too_large', `The answer is larger than ${bytesMax} bytes.`)
