import type { Dispatcher } from 'undici'

import { collect, tooLarge } from './collect.ts'
import { decodeBody } from './decode.ts'
import { toTargetError } from './errors.ts'
import { isSuccess } from './status.ts'

/** The page that comes with a status of failure: more than this of it helps nobody. */
const FAILURE_BYTES_MAX = 1024 * 1024

/**
 * Takes in the body of a final answer, decoded. A fault in the body of a failure does not hide its status: the body is
 * left out then.
 * @param bytesMax as sent and as decoded.
 * @throws {TargetError} `too_large`, `bad_encoding`
 * @throws the errors of zlib and of the connection.
 */
export async function receiveBody(response: Dispatcher.ResponseData, bytesMax: number): Promise<Uint8Array> {
  const { statusCode } = response
  if (isSuccess(statusCode)) return readBody(response, bytesMax)
  try {
    return await readBody(response, Math.min(bytesMax, FAILURE_BYTES_MAX))
  } catch (error) {
    if (toTargetError(error) === undefined) throw error
    return new Uint8Array()
  }
}

/** Lets go of an answer unread. Its connection is lost unless the answer was complete already. */
export function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => undefined).destroy()
}

/** The values of a header, one for each of its lines, a character for each byte. */
export function headerLines({ headers }: Dispatcher.ResponseData, name: string): string[] {
  return [headers[name] ?? []].flat()
}

/** All headers, each as one text. */
export function headersOf(response: Dispatcher.ResponseData): Record<string, string> {
  const names = Object.keys(response.headers)
  return Object.fromEntries(names.map((name) => [name, headerLines(response, name).join(', ')]))
}

async function readBody(response: Dispatcher.ResponseData, bytesMax: number): Promise<Uint8Array> {
  if (Number(headerLines(response, 'content-length')[0]) > bytesMax) {
    discard(response)
    throw tooLarge(bytesMax)
  }
  const body = await collect(response.body as AsyncIterable<Uint8Array>, bytesMax)
  return decodeBody(body, headerLines(response, 'content-encoding').join(','), bytesMax)
}
