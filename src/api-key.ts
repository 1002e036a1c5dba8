import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What every key begins with, so that people and secret scanners know one when they see it. */
export const KEY_PREFIX = 'phk_'
const SECRET_BYTES = 24
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Base 62 digits that 192 bits take. */
const SECRET_DIGITS = 33
/** Base 62 digits that the CRC-32 of prefix and secret takes. */
const CHECK_DIGITS = 6
const FORM = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${SECRET_DIGITS + CHECK_DIGITS}}$`)
const NAME = /^[\w.-]{1,64}$/

/** What the service knows of a key: enough to recognise it, not enough to use it. */
export interface ApiKey {
  /** Names the caller. Several keys may have the same one. */
  readonly name: string
  /** SHA-256 of the key. */
  readonly digest: Buffer
  /** Milliseconds since the Unix epoch from which on the key is refused; undefined for never. */
  readonly expiresAt: number | undefined
}

/** A new key of 192 random bits. */
export function createKey(): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  const key = KEY_PREFIX + toBase62(secret, SECRET_DIGITS)
  return key + checkDigits(key)
}

/** Whether `text` looks like a key and its check digits fit: a slip of the pen is told from a wrong key without a look-up. */
export function isWellFormedKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(checkDigits(text.slice(0, -CHECK_DIGITS)))
}

/** SHA-256. Without a salt or stretching: nobody guesses 192 bits. */
export function digestKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Whether `text` can name a caller. What begins like a key cannot: names are kept and shown, keys are not. */
export function isKeyName(text: string): boolean {
  return NAME.test(text) && !text.startsWith(KEY_PREFIX)
}

function checkDigits(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECK_DIGITS)
}

function toBase62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text
  return text
}
