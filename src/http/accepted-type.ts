import type { FastifyRequest } from 'fastify'

/** A parameter of a media range (RFC 9110 §12.5.1) other than its weight; a quoted value may hold any character. */
const PARAMETER = /;(?!\s*q=)[^;,"]*(?:"(?:[^"\\]|\\.)*"[^;,"]*)*/gi

/**
 * The one of the types that `Accept` likes best, the first if it likes several the same; undefined if it likes none.
 * Parameters such as `charset` or the `variant` of RFC 7763 make no difference: there is one of each type.
 * @param types without parameters.
 */
export function acceptedType<T extends string>(request: FastifyRequest, types: readonly T[]): T | undefined {
  const { headers } = request.raw
  if (headers.accept !== undefined) headers.accept = headers.accept.replace(PARAMETER, '')
  const accepted = request.accepts().type([...types])
  return types.find((type) => type === accepted)
}
