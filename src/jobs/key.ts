import { createHash } from 'node:crypto'

import { Target, TargetOptions } from './schema.ts'
import type { NewTarget } from './store.ts'

/** What an option means when it is left out. Saying so explicitly is the same submission. */
const OPTION_DEFAULTS: TargetOptions = { mode: 'auto', context: false, recover: false }

/** The targets of a submission with the job's default options merged under their own, and explicit defaults left out. */
export function resolveTargets(targets: readonly Target[], defaults: TargetOptions = {}): NewTarget[] {
  return targets.map(({ url, custom_id, options }) => ({
    url,
    customId: custom_id,
    options: declaredOrder(TargetOptions.properties, { ...defaults, ...options }, OPTION_DEFAULTS),
  }))
}

/**
 * SHA-256 of `caller + "\0" + canonical(targets)`. Equal for submissions that ask for the same thing: neither the order
 * of fields, nor explicit defaults, nor the spelling of a URL changes it. The order of the targets does. Retrying a job
 * is another thing than sending its targets again, so it has keys of its own.
 */
export function submissionKey(caller: string, targets: readonly NewTarget[], retryOf?: string): Uint8Array {
  const canonical = targets.map(({ url, customId, options }) =>
    declaredOrder(Target.properties, {
      url: new URL(url).href,
      custom_id: customId,
      options: Object.keys(options).length > 0 ? options : undefined,
    }),
  )
  return createHash('sha256')
    .update(`${caller}\0${retryOf === undefined ? '' : `retry ${retryOf}\0`}${JSON.stringify(canonical)}`)
    .digest()
}

/** `value` with its fields in the order of `properties`, without those that are absent or equal their default. */
function declaredOrder<T extends object>(properties: object, value: T, defaults: Partial<T> = {}): T {
  const given = new Map<string, unknown>(Object.entries(value))
  const usual = new Map<string, unknown>(Object.entries(defaults))
  const fields = Object.keys(properties)
    .map((name) => [name, given.get(name)] as const)
    .filter(([name, field]) => field !== undefined && field !== usual.get(name))
  return Object.fromEntries(fields) as T
}
