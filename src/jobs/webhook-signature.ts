import { createHmac } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'
/** Bytes of a secret: what the Standard Webhooks specification allows. */
const SECRET_BYTES = { min: 24, max: 64 } as const

/** The bytes of the secret that a `whsec_` text spells in Base64; undefined if it does not. */
export function parseWebhookSecret(text: string): Uint8Array | undefined {
  if (!text.startsWith(SECRET_PREFIX)) return undefined
  const base64 = text.slice(SECRET_PREFIX.length)
  const secret = Buffer.from(base64, 'base64')
  const isExact = secret.toString('base64') === base64 // The decoder passes over whatever it does not know.
  return isExact && secret.length >= SECRET_BYTES.min && secret.length <= SECRET_BYTES.max ? secret : undefined
}

/**
 * The headers that Standard Webhooks puts beside a body.
 * @param secrets each signs, so that receivers can move from one to the next at a time of their own.
 * @param at milliseconds since the Unix epoch; of the attempt, not of the event, since receivers refuse old ones.
 */
export function signWebhook(
  secrets: readonly Uint8Array[],
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Record<string, string> {
  const timestamp = Math.floor(at / 1_000)
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
    return `v1,${signature}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
