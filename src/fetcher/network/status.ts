import { STATUS_CODES } from 'node:http'

export const isSuccess = (status: number): boolean => status >= 200 && status <= 299

/** A status with its reason phrase, if RFC 9110 has one for it. */
export function statusText(status: number): string {
  const phrase = STATUS_CODES[status]
  return phrase === undefined ? String(status) : `${status} ${phrase}`
}
