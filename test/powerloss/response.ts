/** An HTTP response as far as it has come. */
export interface Response {
  /** Media type with its parameters. */
  readonly type: string
  readonly body: Buffer
  /** Bytes of the whole response; undefined while some are missing. */
  readonly length: number | undefined
}

/** Reads the response that `bytes` start with; undefined while its head is not whole. */
export function readResponse(bytes: Buffer): Response | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const header = (name: string) => new RegExp(`^${name}: *(.*?)\r?$`, 'im').exec(head)?.[1]
  const start = headEnd + 4
  const type = header('content-type') ?? ''
  if (header('transfer-encoding') === 'chunked') return { type, ...joinChunks(bytes, start) }
  const end = start + Number(header('content-length') ?? 0)
  return { type, body: bytes.subarray(start, end), length: end <= bytes.length ? end : undefined }
}

function joinChunks(bytes: Buffer, start: number): Pick<Response, 'body' | 'length'> {
  const chunks: Buffer[] = []
  for (let at = start; ;) {
    const sizeEnd = bytes.indexOf('\r\n', at)
    if (sizeEnd < 0) return { body: Buffer.concat(chunks), length: undefined }
    const size = Number.parseInt(bytes.toString('latin1', at, sizeEnd), 16)
    const end = sizeEnd + 2 + size
    chunks.push(bytes.subarray(sizeEnd + 2, end))
    at = end + 2
    if (size === 0 && at <= bytes.length) return { body: Buffer.concat(chunks), length: at }
  }
}
