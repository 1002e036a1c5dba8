import type { Submission, Target, TargetOptions } from '../../src/jobs/schema.ts'
import type { Random } from '../helpers/random.ts'
import type { Kind } from './lab-process.ts'

const TARGETS_MAX = 12
const SHARES = { favourite: 3, good: 3, any: 4 }

/** A submission as a caller makes it up. It can be sent in several spellings. */
export type Batch = Required<Pick<Submission, 'targets'>>

/** A body, and what it is. */
export interface Body {
  readonly type: 'application/json' | 'text/uri-list'
  readonly text: string
}

/** What the batches of a run are made of. */
export interface Kinds {
  readonly all: readonly Kind[]
  /** Those of `all` that are asked for most, so that many want something of the same host at once. */
  readonly favourites: readonly Kind[]
}

/** Some kinds at random are favourites, and some always are. */
export const pickFavourites = (all: readonly Kind[], random: Random): Kinds => ({
  all,
  favourites: [...all.filter(({ name }) => SOUGHT.has(name)), ...Array.from({ length: 3 }, () => random.pick(all))],
})

/** Good ones, and one whose every request takes long, so that others wait for their turn. */
const SOUGHT: ReadonlySet<string> = new Set(['echo', 'slow-page', 'tiny-chunks', 'silent'])

/** A random batch: more than half of its targets are good ones. @param name occurs in the path of each of its URLs. */
export function makeBatch(
  name: string,
  { all, favourites }: Kinds,
  random: Random,
  count = random.whole(1, TARGETS_MAX),
): Batch {
  const good = all.filter(({ outcome }) => outcome === 'done')
  const targets = Array.from({ length: count }, (_, idx): Target => {
    const kind = random.pick({ favourite: favourites, good, any: all }[random.weighted(SHARES)])
    const options = { ...kind.options, ...extraOptions(kind, name, random) }
    return {
      url: inBatch(kind.url, name, idx),
      ...(random.chance(0.2) && { custom_id: `${name} ${idx}` }),
      ...(Object.keys(options).length > 0 && { options }),
    }
  })
  return { targets }
}

/** The URL with a path that nobody else asks for. Its origin stays spelt as it is. */
const inBatch = (url: string, name: string, idx: number): string =>
  url.replace(/^(https?:\/\/[^/]+)\/[^?#]*(\?[^#]*)?.*$/, `$1/batch-${name}/${idx}$2`)

/** Options whose effect on a page that repeats its path is plain to see. */
function extraOptions({ content }: Kind, name: string, random: Random): TargetOptions {
  if (content === undefined || !('is' in content) || random.chance(0.5)) return {}
  return random.pick<TargetOptions>([
    { mode: 'raw' },
    { mode: 'text' },
    { grep: `batch-${name}` },
    { grep: 'no such line' },
    { pages: '1-3' },
    { grep: name, mode: 'raw', pages: '2' },
  ])
}

/** The batch in one of the spellings that mean the same. */
export function spell({ targets }: Batch, random: Random, more: Pick<Submission, 'reuse'> = {}): Body {
  const isPlain = targets.every((target) => target.custom_id === undefined && target.options === undefined)
  if (isPlain && more.reuse === undefined && random.chance(0.3)) {
    return { type: 'text/uri-list', text: `# A list\r\n${targets.map(({ url }) => url).join('\r\n')}\r\n` }
  }
  const spelt = targets.map((target) => (random.chance(0.3) ? respelt(target) : target))
  return { type: 'application/json', text: JSON.stringify({ ...more, targets: spelt }, null, random.pick([0, 2])) }
}

/** With its fields in another order, and with a default said aloud. */
function respelt({ url, custom_id, options }: Target): Target {
  const said: TargetOptions = { context: false, mode: 'auto', ...options }
  return { options: said, ...(custom_id !== undefined && { custom_id }), url }
}
