import { createGuard } from '../../src/fetcher/network/guard.ts'
import { createNetwork, type NetworkOptions } from '../../src/fetcher/network/network.ts'
import { TargetError } from '../../src/jobs/target-error.ts'

/** Stand-ins for public hosts. 127.0.0.1 stays a denied address that really listens. */
export const ALLOWED = ['127.0.0.2/32', '127.0.0.3/32']
const BODY_BYTES_MAX = 26_214_400

export type Zone = Readonly<Record<string, readonly string[] | (() => readonly string[] | Promise<readonly string[]>)>>

/** A zone whose `slow.example` is answered when `late` resolves the first time, and at once after that. */
export function slowZone(onAsked: () => void) {
  const late = Promise.withResolvers<readonly string[]>()
  const answers = [late.promise, ['127.0.0.2']]
  const zone: Zone = {
    'slow.example': () => {
      setImmediate(onAsked)
      return answers.shift() ?? []
    },
  }
  return { zone, late }
}

interface Options extends Partial<NetworkOptions> {
  /** What names resolve to; every other name does not exist. */
  readonly zone?: Zone
}

/** The real network behind the real guard; only names are made up. `await using` closes it. */
export function testNetwork({ zone = {}, ...options }: Options = {}) {
  const lookups: string[] = []
  const network = createNetwork({
    guard: createGuard({ allow: ALLOWED, ports: '*' }),
    resolve: async (host) => {
      lookups.push(host)
      const answer = zone[host]
      if (answer === undefined) throw Object.assign(new Error(`queryA ${host}`), { code: 'ENOTFOUND' })
      return typeof answer === 'function' ? answer() : answer
    },
    userAgent: 'pagehaul-test/0',
    bodyBytesMax: BODY_BYTES_MAX,
    ...options,
  })
  const get = (url: string, signal = new AbortController().signal) => network.request(url, signal)
  return {
    ...network,
    get,
    /** Names looked up so far. */
    lookups,
    async text(url: string) {
      return Buffer.from((await get(url)).body).toString()
    },
    /** The refusal that a URL meets. */
    async refusal(url: string): Promise<TargetError> {
      try {
        await get(url)
      } catch (error) {
        if (error instanceof TargetError) return error
        throw error
      }
      throw new Error(`${url} was fetched.`)
    },
    [Symbol.asyncDispose]: () => network.close(),
  }
}
