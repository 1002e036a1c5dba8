/** What `promise` gives, or what `late` gives if it takes longer than `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>, late: () => T): Promise<T> {
  const over = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => over.resolve(undefined), ms)
  try {
    const first = await Promise.race([promise.then((value) => ({ value })), over.promise])
    return first === undefined ? late() : first.value
  } finally {
    clearTimeout(timer)
  }
}
