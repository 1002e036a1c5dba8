/** A member of a value that was parsed from foreign JSON; undefined if it is no object, or has none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
