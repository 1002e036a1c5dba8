/** A copy of an OpenAPI document in which what `$ref` leads to stands in its place, unless that is a schema. */
export function resolveReferences<T extends object>(document: T): T {
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(copy)
    const ref: unknown = Reflect.get(value, '$ref')
    if (typeof ref === 'string' && !ref.startsWith('#/components/schemas/')) return copy(follow(document, ref))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]))
  }
  return copy(document) as T
}

function follow(document: object, ref: string): unknown {
  const steps = ref.slice('#/'.length).split('/')
  return steps.reduce<unknown>((value, step) => Reflect.get(value as object, step), document)
}
