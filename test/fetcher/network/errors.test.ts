import { errors } from 'undici'
import { expect, it } from 'vitest'

import { toTargetError } from '../../../src/fetcher/network/errors.ts'
import { TargetError } from '../../../src/jobs/target-error.ts'

const coded = (code: string, cause?: unknown) => Object.assign(new Error(`${code} 10.1.2.3`, { cause }), { code })

it.each([
  [coded('EHOSTUNREACH'), 'unreachable'],
  [coded('ENETUNREACH'), 'unreachable'],
  [coded('ETIMEDOUT'), 'connect_timeout'],
  [coded('EPIPE'), 'connection_closed'],
  [coded('ERR_SSL_NO_CIPHER_MATCH'), 'tls_failed'],
  [coded('CERT_NOT_YET_VALID'), 'tls_expired'],
  [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'tls_untrusted'],
  [new errors.HeadersTimeoutError(), 'timeout'],
  [new errors.BodyTimeoutError(), 'timeout'],
  [new errors.ConnectTimeoutError(), 'connect_timeout'],
  [new errors.HeadersOverflowError(), 'bad_response'],
  [new errors.HTTPParserError('Odd'), 'bad_response'],
  [new errors.ResponseContentLengthMismatchError(), 'bad_response'],
  [new Error('outer', { cause: coded('ECONNRESET') }), 'connection_closed'],
  [new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')]), 'connect_refused'],
  [new AggregateError([coded('EHOSTUNREACH'), coded('ETIMEDOUT')]), 'unreachable'],
  [new Error('outer', { cause: new AggregateError([new Error('inner'), coded('ENETUNREACH')]) }), 'unreachable'],
])('%s is %s', (error, code) => {
  const known = toTargetError(error)
  expect(known?.code).toBe(code)
  expect(known?.cause).toBe(error)
  expect(known?.message).not.toContain('10.1.2.3')
})

it('leaves a target error as it is, wherever it is', () => {
  const refusal = new TargetError('blocked_address', 'Denied.')
  expect(toTargetError(refusal)).toBe(refusal)
  expect(toTargetError(coded('ECONNRESET', refusal))).toBe(refusal)
})

it.each([
  new TypeError('undefined is not a function'),
  coded('ERR_ASSERTION'),
  coded('UND_ERR_INVALID_ARG'),
  'text',
  undefined,
])('takes what it does not know for a bug: %s', (error) => {
  expect(toTargetError(error)).toBeUndefined()
})

it('comes to an end on causes in a circle', () => {
  const error: Error & { cause?: unknown } = new Error('circle')
  error.cause = error
  expect(toTargetError(error)).toBeUndefined()
})
