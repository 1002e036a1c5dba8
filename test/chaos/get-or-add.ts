/** The value of `key`, which is `value` if there was none. */
export function getOrAdd<V>(map: Map<string, V>, key: string, value: V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  map.set(key, value)
  return value
}
